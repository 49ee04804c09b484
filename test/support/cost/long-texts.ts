/** Characters that many patterns repeat. */
const COMMON = ['a', '1', '0', ',', ' ', '"', ')', '[', '://', '%']
/** Others of names, URLs, keys, JSON and code, and of more than one byte. */
const RARE = [
  ...'A 1, . a. - _ / @ \' \\ \\" ` ( ] ][ { < ; : = & il_ apikey= ? # $ * 0x 1e + … 区 ，'.split(' '),
  ...[' a', '\t', '\n', '\u0301', '\u{1f600}\u200d', '\ud83d', '\u202e', '"a",', 'Contract111111111111111111111111,'],
]
/** Behind the repetition, so that a pattern fails that matched all before. */
const END = '@!'

const repeated = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

/** A text of any length, mostly one repetition: a careless pattern tries it from every place. */
const shapeOf = (unit: string) => ({
  name: `${JSON.stringify(unit)} …`,
  of: (length: number) => `${repeated(unit, length - END.length)}${END}`,
})

export const COMMON_SHAPES = COMMON.map(shapeOf)
export const SHAPES = [...COMMON_SHAPES, ...RARE.map(shapeOf)]

/** Long lists of valid values with an invalid one at the end, and a valid value with a long one behind. */
export function shapesOf(example: string) {
  const first = example.split(',', 1)[0] ?? ''
  return [
    { name: `${first},… !`, of: (length: number) => `${repeated(`${first},`, length - 1)}!` },
    { name: `${first},… × 49 !`, of: () => `${`${first},`.repeat(49)}!` },
    ...['0', 'a', ' ', '.'].map(unit => ({
      name: `${first} ${JSON.stringify(unit)} … !`,
      of: (length: number) => `${first}${repeated(unit, length - first.length - 1)}!`,
    })),
  ]
}
