//! The core's share of a call's cost, without Node: `cargo bench --bench core`. The bars are those of `npm run bench`.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark, not an interface")]

#[allow(dead_code, unreachable_pub, reason = "a module of several targets, as open as they need")]
mod support;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::guard::secret::find_secret;
use support::{Stage, prose};

fn calls(c: &mut Criterion) {
    let mut group = c.benchmark_group("call");
    let arguments: Vec<_> = (0..512).map(|index| support::note(index, 1024)).collect();
    let reads: Vec<_> = (0..512).map(support::whole).collect();
    let written: Vec<_> = (0..512).map(support::written).collect();
    let found: Vec<_> = (0..512).map(support::note_json).collect();
    let fresh = || {
        let mut stage = Stage::new();
        stage.earn();
        stage
    };
    group.throughput(Throughput::Elements(512));
    group.bench_function("512 writes judged", |b| {
        b.iter_batched_ref(
            fresh,
            |stage| arguments.iter().for_each(|arguments| _ = stage.judge("write_note", arguments)),
            BatchSize::LargeInput,
        );
    });
    group.bench_function("512 writes judged and settled", |b| {
        b.iter_batched_ref(
            fresh,
            |stage| {
                for (arguments, answer) in arguments.iter().zip(&written) {
                    stage.judge("write_note", arguments);
                    stage.settle(answer);
                }
            },
            BatchSize::LargeInput,
        );
    });
    group.bench_function("512 reads judged and settled", |b| {
        b.iter_batched_ref(
            fresh,
            |stage| {
                for (arguments, answer) in reads.iter().zip(&found) {
                    stage.judge("read_note", arguments);
                    stage.settle(answer);
                }
            },
            BatchSize::LargeInput,
        );
    });
    let answer = support::note_text(0);
    group.throughput(Throughput::Bytes(answer.len() as u64));
    group.bench_function("an answer in JSON", |b| b.iter(|| Answer::of_text(&answer, 80)));
    group.finish();
}

fn secrets(c: &mut Criterion) {
    let mut group = c.benchmark_group("secret guard");
    for size in [4 << 10, 1 << 20] {
        let text = prose(size, 0);
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(format!("{} KiB of prose", size >> 10), |b| b.iter(|| find_secret(text.as_bytes())));
    }
    group.finish();
}

criterion_group!(benches, calls, secrets);
criterion_main!(benches);
