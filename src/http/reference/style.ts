import { Html } from './html.ts'

/**
 * Looks of the reference, light and dark; part of the page, so that it needs nothing from anywhere. Names are never
 * broken inside: what is too long for a line scrolls within itself.
 */
export const style = new Html(`
:root { color-scheme: light dark; --line: #8886; --soft: light-dark(#f1f2f4, #25272c); --link: light-dark(#0a4ab0, #8db8ff); }
html { background: light-dark(#fff, #17191d); color: light-dark(#17191d, #e8e9eb); }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; font: 16px/1.55 system-ui, -apple-system, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "WenQuanYi Zen Hei", sans-serif; display: flex; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: .5rem; top: .5rem; background: light-dark(#fff, #17191d); padding: .5rem; }
nav { flex: 0 0 19rem; height: 100vh; position: sticky; top: 0; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); font-size: .9rem; }
nav ul { list-style: none; margin: 0; padding-left: .8rem; }
nav > ul { padding: 0; }
nav li { margin: .2rem 0; }
main { flex: 1 1 auto; min-width: 0; max-width: 62rem; padding: 1rem 2rem 6rem; }
h1 small { font-weight: normal; font-size: .6em; }
h2, h3 { display: inline; margin: 0; }
h2 { font-size: 1.35rem; }
h3 { font-size: 1.05rem; }
h3 span { font-weight: normal; }
h4 { margin: 1.5rem 0 .4rem; }
section { margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
article { margin: .3rem 0; }
h5 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
summary { cursor: pointer; padding: .25rem 0; }
article > details[open] { padding-bottom: 1.5rem; border-bottom: 1px solid var(--line); }
code, pre { font: .9em ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace; background: var(--soft); border-radius: 3px; }
code { white-space: nowrap; padding: .1em .3em; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
wbr { white-space: normal; }
pre { padding: .6rem; margin: .4rem 0; overflow: auto; max-height: 26rem; }
.hint { border-left: 4px solid #c60; padding: .3rem .8rem; background: var(--soft); }
.call { overflow-x: auto; }
dl { margin: 0; }
dl > div { display: grid; grid-template-columns: minmax(0, 20rem) minmax(0, 1fr); gap: 0 1rem; padding: .35rem 0; border-bottom: 1px solid var(--line); }
dd { margin: 0; }
dt { min-width: 0; }
dt small { white-space: nowrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
.inputs { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); gap: 0 1rem; }
.inputs p { margin: .3rem 0; }
label { display: block; font-size: .9rem; }
input, select, button { font: inherit; min-height: 2.2rem; padding: .2rem .5rem; max-width: 100%; }
input, select { width: 100%; }
#key { max-width: 30rem; -webkit-text-security: disc; }
details.sample { margin: .2rem 0; }
.answer p:empty { display: none; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 1px; }
a { color: var(--link); }
@media (max-width: 50rem) {
  body { display: block; }
  nav { height: auto; position: static; border-right: 0; border-bottom: 1px solid var(--line); }
  nav ul { display: none; }
  main { padding: 1rem; }
  dl > div { display: block; }
}
`)
