// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of code, not templates.
import { expect, test } from 'bun:test'
import { highlight } from './highlight.ts'

/** Each highlighted piece, as `kind:text`. */
const marked = (code: string): readonly string[] =>
  highlight(code)
    .filter(({ kind }) => kind !== 'plain')
    .map(({ kind, text }) => `${kind}:${text}`)

test.each([
  ['const a = 1 // one', ['keyword:const', 'number:1', 'comment:// one']],
  ['/* over\ntwo lines */ x', ['comment:/* over\ntwo lines */']],
  [`'it\\'s' + "a // b"`, [`string:'it\\'s'`, 'string:"a // b"']],
  ["'no end\nreturn", ["string:'no end", 'keyword:return']],
  ['0xFFn, 1_000.5e-3, .5', ['number:0xFFn', 'number:1_000.5e-3', 'number:.5']],
  ['a1 + returned + map.delete(new.x)', ['keyword:new']],
  ['`a ${b + `c${1}`} d` + 2', ['string:`a ${', 'string:`c${', 'number:1', 'string:}`} d`', 'number:2']],
  ['`${ {a: {}} }` / 3', ['string:`${', 'string:}`', 'number:3']],
  [`x.replace(/["'/]\\//g, '')`, [`string:/["'/]\\//g`, "string:''"]],
  ['return /a/', ['keyword:return', 'string:/a/']],
  ['a / b / 2', ['number:2']],
  ['this / 2 / "s"', ['keyword:this', 'number:2', 'string:"s"']],
  ['合约.名 = "值"', ['string:"值"']],
])('highlight: %s', (code, expected) => {
  expect(marked(code)).toEqual(expected)
})

test('highlight: the pieces joined are the code, at any division', () => {
  const code = "class A { f(x) { return `${x}/*` + /[/]/.test(\"\\\\\") ? 0x1f : '\\'' } } // 😀 end\n/* more */"
  for (let end = 0; end <= code.length; end++) {
    const cut = code.slice(0, end)
    expect(
      highlight(cut)
        .map(({ text }) => text)
        .join(''),
    ).toBe(cut)
  }
})

test('highlight: code with many unclosed strings, comments and patterns is read once', () => {
  for (const part of ['/[', '=/[a', '`', '`${', '/*', "'\\", '"\\\n', '${{', '(/', '1e', '\\', '}', '#', '0x', '/\\']) {
    // Ten times the length on pages. Code with exponential time would not finish.
    const code = part.repeat(50_000)
    const pieces = highlight(code)
    expect(pieces.reduce((length, { text }) => length + text.length, 0)).toBe(code.length)
  }
})
