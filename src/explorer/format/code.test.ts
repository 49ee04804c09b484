// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of code, not templates.
import { expect, test } from 'bun:test'
import { Parser } from 'acorn'
import { parseCallArguments, parseParameterNames, UNKNOWN_SIGNATURE } from './arguments.ts'
import { highlight } from './highlight.ts'

test('parseCallArguments: the text after the arguments is not shown, as the chain ignores it', () => {
  const valuesOf = (data: string) =>
    parseCallArguments({ contract: 'token.iost', action_name: 'balanceOf', data }, UNKNOWN_SIGNATURE)?.map(
      ({ value }) => value,
    )
  expect(valuesOf('["iost","alice"] // thanks')).toEqual(['iost', 'alice'])
  expect(valuesOf('thanks')).toBeUndefined()
})

const namesIn = (code: string) => [...parseParameterNames(code)]

test('parseParameterNames: the methods of the exported class are found', () => {
  const code = `'use strict'
    const helper = (a, b) => a / b
    class Other { transfer(x) {} }
    class Game {
      init() {}
      static make(a) {}
      get owner() { return 1 }
      transfer(from, to, amount = '0') { return /[/]}/.test(from) ? \`\${to}}\` : { amount } }
      async __proto__(value) {}
      spread(first, ...rest) {}
      parts({ a }, b) {}
      [helper(1, 2)](c) {}
      #own(d) {}
      transfer2(x) {}
      transfer2(y, z) {}
    }
    module.exports = Game;`
  expect(namesIn(code)).toEqual([
    ['init', []],
    ['transfer', ['from', 'to', 'amount']],
    ['__proto__', ['value']],
    ['spread', []],
    ['parts', []],
    ['transfer2', ['y', 'z']],
  ])
  expect(namesIn('module.exports = class { a(b) {} }')).toEqual([['a', ['b']]])
})

test('parseParameterNames: unreadable code, or code without an exported class, gives no names', () => {
  const exports = ['', 'module.exports = B', 'exports.A = A', 'module.exports = new A()']
  const none = ['', 'class A { a(b) {} ', ...exports.map(end => `class A { a(b) {} } ${end}`)]
  const long = (length: number) => `class A { a(${'b'.repeat(length)}) {} } module.exports = A`
  expect([...none, long(70_000)].flatMap(namesIn)).toEqual([])
  expect(namesIn(long(41))).toEqual([['a', []]])
})

test('parseParameterNames: any hostile code of 64 KB gives no names', () => {
  const end = ';module.exports=class{a(b){}}'
  const filled = (text: string) => text.repeat(Math.floor((65_536 - end.length) / text.length)) + end
  const numbered = (of: (at: number) => string) => Array.from({ length: 4_000 }, (_, at) => of(at)).join('')
  const hostile = [
    ...['(', '[', '{', 'a=>', '(a=>', '`${', 'class A{a(){', '!', 'async(', '({a:', '[a=', 'x=>{'].map(filled),
    ...['new ', 'do ', 'try{', 'a?', '(a,', '((a=1', 'for(let a of', 'yield ', '/('].map(filled),
    numbered(at => `l${at}:`) + end,
  ]
  expect(hostile.flatMap(namesIn)).toEqual([])
  // Long code that is valid is parsed, including code for which the omitted checks would take long.
  const long = [
    numbered(at => `let a${at};`) + end,
    `/${numbered(at => `(?<a${at}>x)|`)}/${end}`,
    `class A{${numbered(at => `#a${at};`)}}${end}`,
    filled('if(a)'),
  ]
  expect(long.flatMap(namesIn)).toEqual(long.map(() => ['a', ['b']]))
})

/** The number of calls of the parser's methods during `work`. */
function countSteps(work: () => void): number {
  const methods = Parser.prototype as unknown as Record<string, unknown>
  const own = Object.entries(Object.getOwnPropertyDescriptors(methods)).flatMap(([name, { value }]) =>
    typeof value === 'function' && name !== 'constructor' ? [[name, value] as const] : [],
  )
  let steps = 0
  for (const [name, method] of own)
    methods[name] = function (this: unknown, ...given: unknown[]) {
      steps += 1
      return method.apply(this, given)
    }
  try {
    work()
  } finally {
    for (const [name, method] of own) methods[name] = method
  }
  return steps
}

test('parseParameterNames: nested patterns take no more steps than adjacent ones', () => {
  const stepsFor = (text: string) =>
    countSteps(() => expect(namesIn(`module.exports=class{a(b){${text}}}`)).toEqual([['a', ['b']]]))
  const many = 'a,'.repeat(30_000)
  const beside = stepsFor(`[${many}]=1${';[a]=1'.repeat(199)}`)
  const within = stepsFor(`${'['.repeat(200)}${many}${']=1'.repeat(200)}`)
  expect(beside).toBeGreaterThan(30_000)
  expect(within).toBeLessThan(2 * beside)
})

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
  ['this / 2 / "s"', ['keyword:this', 'number:2', 'string:"s"']],
  ['合约.名 = "值"', ['string:"值"']],
])('highlight: %s', (code, expected) => {
  const marked = highlight(code).filter(({ kind }) => kind !== 'plain')
  expect(marked.map(({ kind, text }) => `${kind}:${text}`)).toEqual(expected)
})

test('highlight: the pieces joined are the code, at any division, also of code that would take exponential time', () => {
  const code = "class A { f(x) { return `${x}/*` + /[/]/.test(\"\\\\\") ? 0x1f : '\\'' } } // 😀 end\n/* more */"
  const parts = ['/[', '=/[a', '`', '`${', '/*', "'\\", '"\\\n', '${{', '(/', '1e', '\\', '}', '#', '0x', '/\\']
  // Ten times the length on pages.
  const codes = Array.from({ length: code.length + 1 }, (_, end) => code.slice(0, end))
  for (const each of [...codes, ...parts.map(part => part.repeat(50_000))]) {
    const pieces = highlight(each).map(({ text }) => text)
    expect(pieces.join('') === each).toBe(true)
  }
})
