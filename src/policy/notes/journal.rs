//! What was learnt, one entry after the other, as bytes: a turn holds one piece of memory for all of it, and adding to it makes
//! no other.

use super::super::digest::Digest;
use super::super::memory::Heard;
use super::super::small::Marks;
use super::super::target::FilePath;
use crate::evidence::{Named as Told, Proof};
use crate::note::text::Text;

/// What a whole read proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) struct Read<'a> {
    /// What such a read proves. Never [`Proof::Nothing`].
    pub(in crate::policy) proof: Proof,
    /// The identifier that was read.
    pub(in crate::policy) identifier: Option<Text<'a>>,
    /// What the result called the note.
    pub(in crate::policy) told: Told<'a>,
    /// What stood for the current project, where that is known.
    pub(in crate::policy) current: Option<u64>,
    /// The slug of the project that the result may be of, where none was named.
    pub(in crate::policy) own: Option<&'a str>,
    /// The step after which the model sees it.
    pub(in crate::policy) step: u32,
}

/// A new note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) struct Wrote<'a> {
    /// What was done, apart from the note that it was done to.
    pub(in crate::policy) effect: Digest,
    /// The note, as the arguments name it.
    pub(in crate::policy) target: Digest,
    /// What the result called the note, or the arguments.
    pub(in crate::policy) told: Told<'a>,
    /// What stood for the current project, where that is known.
    pub(in crate::policy) current: Option<u64>,
    /// The slug of the project that the result may be of, where none was named.
    pub(in crate::policy) own: Option<&'a str>,
    /// Whether the result is one that the server is known to give, and so proves that the note is there.
    pub(in crate::policy) proves: bool,
}

/// Something that was learnt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) enum Entry<'a> {
    /// A whole note was read, by a call that named no project.
    Read(Read<'a>),
    /// A new note was written, by a call that named no project.
    Wrote(Wrote<'a>),
    /// What other sessions did in between.
    Heard(Heard),
}

/// The entries that are still to be worked out.
#[derive(Debug, Default)]
pub(super) struct Journal {
    bytes: Vec<u8>,
    entries: u32,
    /// What its writes did.
    effects: Marks,
}

/// Bytes up to which a journal grows by what it needs: most turns learn little, and there are many.
const SMALL: usize = 1024;

const READ_PATH: u8 = 0;
const READ_IDENTIFIER: u8 = 1;
const WROTE: u8 = 2;
const WROTE_PROVEN: u8 = 3;
const HEARD: u8 = 4;

impl Journal {
    pub(super) const fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub(super) const fn entries(&self) -> u32 {
        self.entries
    }

    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether an entry may be of a write that did this.
    pub(super) fn has(&self, effect: &Digest) -> bool {
        self.effects.has(*effect)
    }

    pub(super) fn push(&mut self, moment: u32, entry: &Entry<'_>) {
        self.entries += 1;
        let mut out = Out { bytes: &mut self.bytes };
        match entry {
            Entry::Read(read) => {
                let identifier = read.identifier.as_ref().map_or(0, |identifier| identifier.as_bytes().len());
                out.room(&read.told, read.own, 2 * NUMBER + identifier);
                out.byte(if read.proof == Proof::Identifier { READ_IDENTIFIER } else { READ_PATH });
                out.number(moment);
                out.number(read.step);
                out.bytes(read.identifier.as_ref().map(Text::as_bytes));
                out.place(read.current, read.own);
                out.told(&read.told);
            }
            Entry::Wrote(wrote) => {
                self.effects.add(wrote.effect);
                out.room(&wrote.told, wrote.own, 2 * size_of::<Digest>());
                out.byte(if wrote.proves { WROTE_PROVEN } else { WROTE });
                out.number(moment);
                out.digest(wrote.effect);
                out.digest(wrote.target);
                out.place(wrote.current, wrote.own);
                out.told(&wrote.told);
            }
            Entry::Heard(heard) => {
                out.byte(HEARD);
                out.number(moment);
                let Heard { titles, removed, edits } = heard;
                out.byte(u8::from(*titles) | u8::from(*removed) << 1);
                out.number(u32::try_from(edits.len()).unwrap_or(u32::MAX));
                for FilePath { exact, folded } in edits {
                    out.digest(*exact);
                    out.digest(*folded);
                }
            }
        }
    }

    /// Every entry with its moment, in the order in which they came.
    pub(super) fn each(&self, mut visit: impl FnMut(u32, Entry<'_>)) {
        let mut from = In { bytes: &self.bytes };
        while let Ok((moment, entry)) = from.entry() {
            visit(moment, entry);
        }
    }
}

struct Out<'j> {
    bytes: &'j mut Vec<u8>,
}

const NUMBER: usize = size_of::<u32>();
/// Bytes of every entry besides its texts: kind, moment, whether and what is current, and the lengths of five texts.
const FRAME: usize = 1 + NUMBER + 1 + size_of::<u64>() + 5 * NUMBER;

impl Out<'_> {
    /// Makes room at once, and while it is little for no more than that.
    fn room(&mut self, told: &Told<'_>, own: Option<&str>, more: usize) {
        let texts = [told.file_path, told.permalink, told.title, told.project, own];
        let wanted = FRAME + more + texts.into_iter().flatten().map(str::len).sum::<usize>();
        if self.bytes.len() + wanted < SMALL {
            self.bytes.reserve_exact(wanted);
        }
    }

    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn number(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn digest(&mut self, digest: Digest) {
        self.bytes.extend_from_slice(&digest.to_bytes());
    }

    fn bytes(&mut self, bytes: Option<&[u8]>) {
        match bytes.map(|bytes| (bytes, u32::try_from(bytes.len()))) {
            Some((bytes, Ok(length))) if length < u32::MAX => {
                self.number(length);
                self.bytes.extend_from_slice(bytes);
            }
            _ => self.number(u32::MAX),
        }
    }

    fn text(&mut self, text: Option<&str>) {
        self.bytes(text.map(str::as_bytes));
    }

    fn place(&mut self, current: Option<u64>, own: Option<&str>) {
        self.byte(u8::from(current.is_some()));
        if let Some(current) = current {
            self.bytes.extend_from_slice(&current.to_le_bytes());
        }
        self.text(own);
    }

    fn told(&mut self, told: &Told<'_>) {
        for text in [told.file_path, told.permalink, told.title, told.project] {
            self.text(text);
        }
    }
}

struct In<'j> {
    bytes: &'j [u8],
}

/// There is no more.
struct End;

impl<'j> In<'j> {
    fn entry(&mut self) -> Result<(u32, Entry<'j>), End> {
        let [kind] = self.array()?;
        let moment = self.number()?;
        let entry = match kind {
            READ_PATH | READ_IDENTIFIER => {
                let proof = if kind == READ_PATH { Proof::PathAndIdentifier } else { Proof::Identifier };
                let step = self.number()?;
                let identifier = self.bytes()?.map(Text::of_own_bytes);
                let (current, own) = self.place()?;
                Entry::Read(Read { proof, identifier, told: self.told()?, current, own, step })
            }
            WROTE | WROTE_PROVEN => {
                let (effect, target) = (self.digest()?, self.digest()?);
                let (current, own) = self.place()?;
                Entry::Wrote(Wrote { effect, target, told: self.told()?, current, own, proves: kind == WROTE_PROVEN })
            }
            _ => {
                let [facts] = self.array()?;
                let count = self.number()?;
                let edit = |_| Ok(FilePath { exact: self.digest()?, folded: self.digest()? });
                let edits = (0..count).map(edit).collect::<Result<Vec<_>, End>>()?;
                Entry::Heard(Heard { titles: facts & 1 != 0, removed: facts & 2 != 0, edits })
            }
        };
        Ok((moment, entry))
    }

    fn take(&mut self, count: usize) -> Result<&'j [u8], End> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(End)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], End> {
        self.take(N)?.try_into().map_err(|_| End)
    }

    fn number(&mut self) -> Result<u32, End> {
        self.array().map(u32::from_le_bytes)
    }

    fn digest(&mut self) -> Result<Digest, End> {
        self.array().map(Digest::from_bytes)
    }

    fn bytes(&mut self) -> Result<Option<&'j [u8]>, End> {
        match self.number()? {
            u32::MAX => Ok(None),
            length => self.take(usize::try_from(length).map_err(|_| End)?).map(Some),
        }
    }

    fn text(&mut self) -> Result<Option<&'j str>, End> {
        self.bytes()?.map(std::str::from_utf8).transpose().map_err(|_| End)
    }

    fn place(&mut self) -> Result<(Option<u64>, Option<&'j str>), End> {
        let [known] = self.array()?;
        let current = if known == 0 { None } else { Some(u64::from_le_bytes(self.array()?)) };
        Ok((current, self.text()?))
    }

    fn told(&mut self) -> Result<Told<'j>, End> {
        let (file_path, permalink) = (self.text()?, self.text()?);
        Ok(Told { file_path, permalink, title: self.text()?, project: self.text()? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::digest::{DigestKey, Digester};
    use super::*;

    fn digest(number: u8) -> Digest {
        let mut digester = Digester::new(&DigestKey([number; 16]));
        digester.bytes(&[number]);
        digester.finish()
    }

    fn all() -> Vec<(u32, Entry<'static>)> {
        let texts = [None, Some(""), Some("main"), Some("notes/é\n.md")];
        let mut entries = Vec::new();
        for (number, proof) in [Proof::Identifier, Proof::PathAndIdentifier].into_iter().enumerate() {
            for identifier in texts {
                for current in [None, Some(0), Some(u64::MAX)] {
                    let told = Told { file_path: texts[3], permalink: identifier, title: None, project: texts[1] };
                    let own = texts[number + 1];
                    let identifier = identifier.map(Text::from);
                    let read = Read { proof, identifier, told, current, own, step: u32::MAX };
                    entries.push(Entry::Read(read));
                    let (effect, target) = (digest(1), digest(u8::try_from(entries.len()).unwrap()));
                    entries.push(Entry::Wrote(Wrote { effect, target, told, current, own, proves: number == 0 }));
                }
            }
        }
        for (titles, removed) in [(false, false), (true, false), (false, true), (true, true)] {
            let edits = (0..u8::from(titles) * 3).map(|n| FilePath { exact: digest(n), folded: digest(n + 1) });
            entries.push(Entry::Heard(Heard { titles, removed, edits: edits.collect() }));
        }
        entries.into_iter().zip(7..).map(|(entry, moment)| (moment, entry)).collect()
    }

    #[test]
    fn gives_back_what_was_put_in() {
        let entries = all();
        let mut journal = Journal::default();
        assert!(journal.is_empty());
        for (moment, entry) in &entries {
            journal.push(*moment, entry);
        }
        assert_eq!(journal.entries() as usize, entries.len());
        let mut back = entries.iter();
        journal.each(|moment, entry| assert_eq!(back.next(), Some(&(moment, entry))));
        assert_eq!(back.next(), None, "none is lost");
    }

    #[test]
    fn knows_the_effects_of_its_writes_however_many_they_are() {
        let mut journal = Journal::default();
        for number in 0..100 {
            assert!(!journal.has(&digest(number)), "{number}");
            let told = Told::default();
            let (effect, target) = (digest(number), digest(0));
            let wrote = Wrote { effect, target, told, current: None, own: None, proves: true };
            journal.push(u32::from(number), &Entry::Wrote(wrote));
            assert!((0..=number).all(|number| journal.has(&digest(number))), "{number}");
        }
    }
}
