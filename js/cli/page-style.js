/** The page's style sheet. Two palettes of the same names; the browser's preference chooses. */
export const style = `
:root{--bg:#fbfbfa;--card:#fff;--ink:#1d2126;--soft:#5b636d;--line:#e3e5e8;--accent:#2f6fb4;--good:#2e7d4f;--bad:#c2412d;
--warn:#9a6700;--read:#b9c4d0;--search:#33729f;--control:#735fae;--all:#c6d3e0;--badink:#fff}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1c2024;--ink:#e7e9ec;--soft:#9aa4af;--line:#2e343a;
--accent:#6aa9e9;--good:#5bb884;--bad:#e8705c;--warn:#d9a441;--read:#4c5763;--search:#3a7cb4;--control:#7a68b3;
--all:#3a4855;--badink:#1a0d0a}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1.25rem 1rem 3rem;background:var(--bg);color:var(--ink);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;-webkit-text-size-adjust:100%}
h1{font-size:1.5rem;line-height:1.2;margin:0}
h2{font-size:1.05rem;margin:0 0 .6rem}
p{margin:.25rem 0}
.range,small,footer,.axis,summary span{color:var(--soft)}
small{font-size:.82rem}
code{font:.88em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
section,details{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem;margin:1rem 0}
section details{margin:.6rem 0;padding:.6rem .75rem;background:var(--bg)}
.answer{border-left:.4rem solid var(--accent)}
.answer p{font-size:1.1rem}
.answer.enforce,.answer.strict{border-left-color:var(--good)}
.answer.mend{border-left-color:var(--bad)}
.answer.stay{border-left-color:var(--warn)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.2rem,1fr));gap:.75rem;background:none;border:0;padding:0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.75rem .9rem;display:flex;flex-direction:column}
.tile b{font-size:1.7rem;line-height:1.15;font-variant-numeric:tabular-nums}
.bars{list-style:none;margin:0;padding:0;display:grid;gap:.8rem}
.label{display:flex;justify-content:space-between;gap:1rem;align-items:baseline}
.label b{font-variant-numeric:tabular-nums;white-space:nowrap}
.bar{height:.55rem;border-radius:.3rem;background:var(--line);overflow:hidden;margin:.2rem 0}
.bar i{display:block;height:100%;background:var(--bad);border-radius:.3rem}
.stack{display:flex;gap:2px;height:1.5rem;margin-top:.25rem;border-radius:.3rem;overflow:hidden;font-size:.8rem}
.stack i{font-style:normal;text-align:center;min-width:1.4rem;line-height:1.5rem;color:var(--badink)}
.right{background:var(--good)}.other{background:var(--warn)}.none{background:var(--read)}
.stack .none{color:var(--ink)}
.days{display:flex;align-items:flex-end;gap:3px;height:7rem;border-bottom:1px solid var(--line)}
.day{flex:1;position:relative;height:100%}
.day i{position:absolute;bottom:0;left:50%;width:min(100%,3rem);transform:translateX(-50%);border-radius:3px 3px 0 0}
.all{background:var(--all)}.some{background:var(--bad)}
.axis{display:flex;justify-content:space-between;gap:.75rem;font-size:.82rem;flex-wrap:wrap}
.key{font-size:.85rem;color:var(--soft);margin-bottom:.6rem}
.key i{display:inline-block;width:.8rem;height:.8rem;border-radius:3px;vertical-align:-.08rem;margin-left:.6rem}
.key i:first-child{margin-left:0}
.key .c{width:1.2rem;height:1.2rem;line-height:1.2rem;vertical-align:-.25rem}
.axis .key{margin:0}
.facts{margin:0;padding-left:1.1rem}
.facts li{margin:.3rem 0}
table{border-collapse:collapse;width:100%}
th{text-align:left;font-weight:600;color:var(--soft);font-size:.85rem}
th,td{padding:.3rem 0;border-bottom:1px solid var(--line)}
tr:last-child td{border-bottom:0}
td:last-child,th:last-child{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-left:1rem}
summary{cursor:pointer;display:flex;flex-wrap:wrap;gap:.2rem 1rem;align-items:baseline;list-style:none}
summary::-webkit-details-marker{display:none}
summary::before{content:"\\25b8";color:var(--soft)}
details[open]>summary::before{content:"\\25be"}
summary b{color:var(--bad)}
.turn{display:flex;gap:.75rem;padding:.35rem 0;border-top:1px solid var(--line);align-items:flex-start}
summary+.turn{margin-top:.5rem}
.no{flex:0 0 4.2rem;color:var(--soft);font-size:.85rem;line-height:1.35rem}
.cells{display:flex;flex-wrap:wrap;gap:3px}
.c{display:inline-block;width:1.35rem;height:1.35rem;border-radius:4px;font:600 .72rem/1.35rem ui-monospace,Menlo,Consolas,monospace;
text-align:center;color:var(--ink);background:var(--read)}
.turn small{flex-basis:100%}
.cells{flex:1}
.c.search{background:var(--search);color:#fff}.c.control{background:var(--control);color:#fff}
.c.write{background:var(--good);color:var(--badink)}.c.bad{background:var(--bad);color:var(--badink)}
footer{font-size:.85rem;margin-top:1.5rem}
footer strong{color:var(--bad)}
@media (max-width:30rem){body{padding:1rem .75rem 2rem}section{padding:.85rem}.tiles{grid-template-columns:1fr 1fr}
.no{flex-basis:3.4rem}.answer p{font-size:1rem}}
@media print{body{background:#fff}details{break-inside:avoid}}
`
