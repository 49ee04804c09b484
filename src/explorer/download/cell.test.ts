import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { textCell } from './cell.ts'

const RUN = ['=', '+', '-', '@', '\t', '\r', '\n', '\uff1d', '\uff0b', '\uff0d', '\uff20']

test('textCell: a formula is shown as text by a spreadsheet', () => {
  expect(textCell('=HYPERLINK("https://elsewhere.example")')).toBe('\'=HYPERLINK("https://elsewhere.example")')
  expect(textCell("-1+1|cmd' /C calc'!A0")).toBe("'-1+1|cmd' /C calc'!A0")
  expect(textCell('a=b')).toBe('a=b')
  expect(textCell('')).toBe('')
  expect(textCell('\u202etxt')).toBe('\\u{202e}txt')
})

test('textCell: no text begins like a formula, and other texts change only if they have invisible characters', () =>
  fc.assert(
    fc.property(fc.constantFrom('', ...RUN), fc.string({ unit: 'grapheme-ascii' }), (first, rest) => {
      const cell = textCell(first + rest)
      expect(RUN.includes(cell.charAt(0))).toBe(false)
      if (!RUN.includes((first + rest).charAt(0))) expect(cell).toBe(first + rest)
    }),
  ))
