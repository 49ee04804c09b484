import { Html } from './html.ts'

/** Looks of the reference, light and dark; part of the page, so that it needs nothing from anywhere. */
export const style = new Html(`
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { margin: 0; font: 16px/1.55 system-ui, -apple-system, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif; display: flex; }
nav { flex: 0 0 17rem; height: 100vh; position: sticky; top: 0; overflow: auto; padding: 1rem; box-sizing: border-box; border-right: 1px solid var(--line); font-size: .9rem; }
nav ul { list-style: none; margin: 0; padding-left: .8rem; }
nav > ul { padding: 0; }
main { flex: 1 1 auto; min-width: 0; max-width: 62rem; padding: 1rem 2rem 6rem; }
h1 small, h3 small { font-weight: normal; opacity: .7; font-size: .7em; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
article { margin-top: 2.5rem; }
code { font: .9em ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; background: var(--soft); padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
a { color: LinkText; }
@media (max-width: 50rem) { body { display: block; } nav { height: auto; position: static; border-right: 0; border-bottom: 1px solid var(--line); } main { padding: 1rem; } }
`)
