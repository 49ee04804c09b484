import { expect, test } from 'bun:test'
import { parseLabels } from './labels.ts'

test('parseLabels: a label is for all languages or for one language each', () => {
  const text = '\ufeffname,label,label_zh\r\nexchange01,Some Exchange,某交易所\r\n\r\n__proto__, A & B \r\ntoken.iost,T'
  const labels = new Map([
    ['exchange01', { en: 'Some Exchange', zh: '某交易所' }],
    ['__proto__', { en: 'A & B', zh: 'A & B' }],
    ['token.iost', { en: 'T', zh: 'T' }],
  ])
  expect(parseLabels(text)).toEqual(labels)
  expect(parseLabels(text.replace(/.*\r\n/, ''))).toEqual(labels)
  expect(parseLabels('')).toEqual(new Map())
})

test.each([
  ['admin', 'line 1, "admin", is not NAME,LABEL or NAME,LABEL,CHINESE LABEL'],
  ['admin,a,b,c', 'line 1, "admin,a,b,c", is not NAME,LABEL'],
  ['name,label\nAdmin,x', 'line 2, "Admin,x", does not begin with the name of an account or the id of a contract'],
  ['admin,x\n\nadmin,y', 'line 3, "admin,y", has the name of an earlier line'],
  ['admin,', 'line 1, "admin,", has an empty label'],
  ['admin,x,', 'line 1, "admin,x,", has an empty label'],
  ['admin,"x"', 'has a quote in a label'],
  ['admin,x\u202ey', 'has a label with an invisible character'],
  [`admin,${'x'.repeat(41)}`, 'has a label of more than 40 characters'],
  [
    Array.from({ length: 10_001 }, (_, at) => `user_${at},x`).join('\n'),
    'line 10001, "user_10000,x", is beyond the 10000 labels that a file may have',
  ],
])('parseLabels: refuses %#', (text, message) => {
  expect(() => parseLabels(text)).toThrow(message)
})

test('parseLabels: a label may have any script and is limited by its characters', () => {
  expect(parseLabels(`admin,${'😀'.repeat(40)}`).size).toBe(1)
})
