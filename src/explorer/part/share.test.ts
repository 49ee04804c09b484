import { expect, test } from 'bun:test'
import { Concentration } from './share.tsx'

type Given = readonly [parts: readonly string[], whole: string, total: number]

/** The texts of the bands. */
function told([parts, whole, total]: Given): readonly string[] {
  const html = String(Concentration({ visit: { say: text => text.en }, parts, whole, total }))
  return [...html.matchAll(/<span>([^<]*)<\/span>\s*<data[^>]*>([^<]*)</g)].map(([, name, share]) => `${name} ${share}`)
}

test.each([
  // The share of one owner is equal to that in its row, which is rounded down.
  [
    [['2', '1'], '3', 2],
    ['Largest 66.66 %', 'No. 2 33.33 %'],
  ],
  [
    [['1', '0.5', '0.25'], '2', 3],
    ['Largest 50.00 %', 'No. 2 to 3 37.50 %', 'Elsewhere 12.50 %'],
  ],
  // A small share is neither shown as zero nor omitted, and a zero share is not shown.
  [
    [['0.000001', '0.000001'], '1', 2],
    ['Largest &lt; 0.01 %', 'No. 2 &lt; 0.01 %', 'Elsewhere 99.99 %'],
  ],
  [
    [['99999', '0.99999999'], '100000', 2],
    ['Largest 99.99 %', 'No. 2 &lt; 0.01 %', 'Elsewhere &lt; 0.01 %'],
  ],
  [[['5'], '5', 1], ['Largest 100.00 %']],
  [[[], '5', 0], []],
  [[['5'], '0', 1], []],
  // The rest of the whole is not attributed to the list.
  [
    [Array.from({ length: 100 }, () => '1'), '200', 120],
    ['Largest 0.50 %', 'No. 2 to 10 4.50 %', 'No. 11 to 100 45.00 %', 'All others 50.00 %'],
  ],
] as const)('Concentration: %#', (given, expected) => {
  expect(told(given)).toEqual(expected)
})
