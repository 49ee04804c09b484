import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { textCell } from './file.ts'

const RUN = ['=', '+', '-', '@', '\t', '\r', '\n', '\uff1d', '\uff0b', '\uff0d', '\uff20']

test('textCell: a formula is shown as text by a spreadsheet', () => {
  expect(textCell('=HYPERLINK("https://elsewhere.example")')).toBe('\'=HYPERLINK("https://elsewhere.example")')
  expect(textCell("-1+1|cmd' /C calc'!A0")).toBe("'-1+1|cmd' /C calc'!A0")
  expect(textCell('a=b')).toBe('a=b')
  expect(textCell('')).toBe('')
  expect(textCell('\u202etxt')).toBe('\\u{202e}txt')
})

test('textCell: no cell begins like a formula, wherever a program divides the text', () =>
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...RUN, ';', '"', "'", ' ', 'a', '1') }), text => {
      const cell = textCell(text)
      expect(RUN).not.toContain(cell.charAt(0))
      // Quotes are doubled in the file; a program that divides inside of them leaves them out.
      for (const part of cell
        .replaceAll('"', '""')
        .split(/[;\t\r\n]/)
        .slice(1))
        expect(part).not.toMatch(/^["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]/)
    }),
  ))

test('textCell: other texts are unchanged', () =>
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '1', ' ', '"', "'", ';', ',') }), text => {
      const plain = `x${text}`
      expect(textCell(plain)).toBe(plain)
      expect(textCell(`${plain}=1`).replaceAll("'", '')).toBe(`${plain}=1`.replaceAll("'", ''))
    }),
  ))
