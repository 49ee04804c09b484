import { expect, test } from 'bun:test'
import { Parser } from 'acorn'
import { parseCallArguments, parseParameterNames, UNKNOWN_SIGNATURE } from './arguments.ts'

const namesAndValues = (data: string) =>
  parseCallArguments({ contract: 'token.iost', action_name: 'balanceOf', data }, UNKNOWN_SIGNATURE)?.map(
    ({ name, value }) => [name, value],
  )

test('parseCallArguments: the text after the arguments is not shown, as the chain ignores it', () => {
  const read = namesAndValues('["iost","alice"]')
  expect(read?.map(([, value]) => value)).toEqual(['iost', 'alice'])
  expect(namesAndValues('["iost","alice"] // thanks')).toEqual(read)
  expect(namesAndValues('thanks')).toBeUndefined()
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
  const none = [
    '',
    'class A { a(b) {} ',
    'class A { a(b) {} }',
    'class A { a(b) {} } module.exports = B',
    'class A { a(b) {} } exports.A = A',
    'class A { a(b) {} } module.exports = new A()',
    `class A { a(${'b'.repeat(70_000)}) {} } module.exports = A`,
  ]
  expect(none.map(namesIn)).toEqual(none.map(() => []))
  expect(namesIn(`class A { a(${'b'.repeat(41)}) {} } module.exports = A`)).toEqual([['a', []]])
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
function stepsOf(work: () => void): number {
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
  const methodWith = (text: string) => `module.exports=class{a(b){${text}}}`
  const stepsFor = (text: string) => stepsOf(() => expect(namesIn(methodWith(text))).toEqual([['a', ['b']]]))
  const depth = 200
  const many = 'a,'.repeat(30_000)
  const beside = stepsFor(`[${many}]=1${';[a]=1'.repeat(depth - 1)}`)
  const within = stepsFor(`${'['.repeat(depth)}${many}${']=1'.repeat(depth)}`)
  expect(beside).toBeGreaterThan(30_000)
  expect(within).toBeLessThan(2 * beside)
})
