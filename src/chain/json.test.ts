import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  compactJson,
  Exact,
  elementSpans,
  isCompactForm,
  memberSpans,
  parseExact,
  RawJson,
  spansInside,
  writeJson,
} from './json.ts'

const NUMBERS = [
  ...'0 -0 1 -1 1.5 1.50 0.1 1e5 1E-7 1e400 9007199254740991 9007199254740993 9223372036854775807'.split(' '),
  ...'1795503528500485185 4997498821.49999999 0.00000001 123456789012345678901234567890.123456789'.split(' '),
]
test.each(NUMBERS)('parseExact, writeJson: %s keeps its digits', text => {
  expect(writeJson(parseExact(text))).toBe(text)
  expect(writeJson(parseExact(`{"a":[${text}]}`))).toBe(`{"a":[${text}]}`)
})

test('parseExact: only numbers that a double would change are kept as text', () => {
  expect(parseExact('[1,1.5,9007199254740993,1.50]')).toEqual([
    1,
    1.5,
    new Exact('9007199254740993'),
    new Exact('1.50'),
  ])
})

test('writeJson: numbers are written as strings on request', () => {
  const value = { a: new Exact('9007199254740993'), b: 2n ** 62n, c: 1 }
  expect(writeJson(value, { numbers: 'string' })).toBe('{"a":"9007199254740993","b":"4611686018427387904","c":1}')
})

test('writeJson: maps, absent properties, raw texts and names such as __proto__ are written', () => {
  const map = new Map([
    ['__proto__', 1],
    ['b', 2],
  ])
  expect(writeJson({ map, none: undefined, raw: new RawJson('{"x": 1}') })).toBe(
    '{"map":{"__proto__":1,"b":2},"raw":{"x": 1}}',
  )
  expect(writeJson(parseExact('{"__proto__":{"constructor":1.10}}'))).toBe('{"__proto__":{"constructor":1.10}}')
})

test('writeJson: a value that is not JSON is refused', () => {
  expect(() => writeJson(Number.NaN)).toThrow('NaN cannot be written as JSON.')
  expect(() => writeJson(() => 1)).toThrow('A function cannot be written as JSON.')
})

test('parseExact: a text that is not JSON is refused', () => {
  expect(() => parseExact('{"a":01.5}')).toThrow(SyntaxError)
  expect(() => parseExact('')).toThrow(SyntaxError)
})

const literal = fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,24})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?$/)
test('parseExact, writeJson: every number literal survives a round trip', () => {
  fc.assert(fc.property(literal, text => writeJson(parseExact(`[${text}]`)) === `[${text}]`))
})

test('parseExact, writeJson: compact JSON survives a round trip', () => {
  const text = fc.json().map(json => JSON.stringify(JSON.parse(json)))
  fc.assert(fc.property(text, json => writeJson(parseExact(json)) === json))
})

const LEVELS = [199, 200, 201, 20_000]
test.each(LEVELS)('parseExact, writeJson: %d levels, with and without numbers to keep', levels => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"__proto__":', '}'],
    ['[1,{"a":[],"b":"]}\\\\\\"","c":', ',null]'],
  ] as const)
    for (const inmost of ['true', '"x"', '9007199254740993', '-0', '[]', '{}']) {
      const text = `${open.repeat(levels)}${inmost}${close.startsWith(',') ? `}${close}`.repeat(levels) : close.repeat(levels)}`
      expect(writeJson(parseExact(text)) === text).toBe(true)
    }
})

test('parseExact: with a number to keep, the rest of the value equals that of JSON.parse', () => {
  fc.assert(
    fc.property(fc.json(), text => {
      expect(parseExact(`[1.50,${text}]`)).toEqual([new Exact('1.50'), JSON.parse(text)])
    }),
  )
})

test('parseExact: a number inside a text does not hide one outside of it', () => {
  const long = '9007199254740993'
  for (const value of ['0.10', `"${long}`, 'a\\', '1e5\n', '-0']) {
    const written = JSON.stringify(value)
    expect(parseExact(`[${written},7]`)).toEqual([value, 7])
    expect(parseExact(`[${written},${long},${written}]`)).toEqual([value, new Exact(long), value])
    expect(parseExact(`{${written}:1.50,"b":${written}}`)).toEqual({ [value]: new Exact('1.50'), b: value })
  }
  expect(() => parseExact('["0.1]')).toThrow(SyntaxError)
})

test('parseExact: a text without end takes no time beyond its length', () => {
  expect(() => parseExact(`[12345678901234567,"${'\\"'.repeat(1_000_000)}`)).toThrow(SyntaxError)
})

const cut = (text: string, spans: Iterable<readonly [number, number]>): readonly string[] =>
  [...spans].map(([from, to]) => text.slice(from, to))

test('memberSpans: members are in written order, including digit keys and strings with quotes and brackets', () => {
  const text = ' {"b" : "}\\"" , "12345":[1, {"x":"]"}],"__proto__":-1.5e3 ,"a\\u0062":null}'
  const members = memberSpans(text)
  expect([...members.keys()]).toEqual(['b', '12345', '__proto__', 'ab'])
  expect(cut(text, members.values())).toEqual(['"}\\""', '[1, {"x":"]"}]', '-1.5e3', 'null'])
  expect(memberSpans('{}').size).toBe(0)
})

test('memberSpans: the last of two equal keys counts, as in JSON.parse', () => {
  const text = '{"a":1,"a":2}'
  expect(cut(text, memberSpans(text).values())).toEqual(['2'])
})

test('elementSpans: elements of any kind are found, also in empty lists', () => {
  const text = '[ 1,"a\\\\", [ ] ,{"b":[]}, true ]'
  expect(cut(text, elementSpans(text))).toEqual(['1', '"a\\\\"', '[ ]', '{"b":[]}', 'true'])
  expect(elementSpans('[]')).toEqual([])
})

test('spansInside: objects and lists at one depth are found, whatever strings and deeper levels contain', () => {
  const text = '{"a":[ {"b":[{}]}, ["]", [1]] ,3,"{"], "c":{"d":"}\\""}}'
  expect(cut(text, spansInside(text, 2))).toEqual(['{"b":[{}]}', '["]", [1]]'])
  expect(cut(text, spansInside(text, 0))).toEqual([text])
  expect(spansInside('1', 0)).toEqual([])
})

test('compactJson: the result equals JSON.stringify for values whose order and numbers survive it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 4 }), (value, indent) => {
      const compact = JSON.stringify(JSON.parse(JSON.stringify(value)))
      return compactJson(JSON.stringify(JSON.parse(compact), null, indent)) === compact
    }),
  )
})

test('compactJson: order, digits and escapes stay as written', () => {
  expect(compactJson('{ "b" : 1.50 ,\n "1" : "\\u003c  x" }')).toBe('{"b":1.50,"1":"\\u003c  x"}')
})

test('compacted JSON: the result agrees with compactJson for any whitespace, escapes and other letters', () => {
  const texts = ['{"a": [1, 2 ,\n"x, \\" y"], "b":"\\\\" }', '["\\u00e9 ", "a  b"]', '{ }', '"\\\\"', '[ "a", 1.5 ]']
  for (const text of texts)
    for (const compact of [...texts.map(each => compactJson(each)), compactJson(text).slice(0, -1), ''])
      expect(isCompactForm(compact, ` ${text},`, [1, 1 + text.length])).toBe(compact === compactJson(text))
})
