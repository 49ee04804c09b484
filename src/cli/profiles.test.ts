import { expect, test } from 'bun:test'
import { parseProfiles } from './profiles.ts'

const empty = {
  alias: '',
  alias_en: '',
  description: '',
  description_en: '',
  logo: '',
  statement: '',
  statement_en: '',
  type: '',
  type_en: '',
  social_media: {},
}

test('parseProfiles: JSON and CSV give the same profiles', () => {
  const json = JSON.stringify([
    {
      producer: 'producer000',
      alias: '节点',
      statement_en: 'One, "two"\nthree',
      social_media: { twitter: 'https://t/x' },
    },
    { producer: '__proto__', logo: 'https://l' },
  ])
  const csv =
    '\ufeffproducer,alias,statement_en,social_media.twitter,logo\r\n' +
    'producer000,节点,"One, ""two""\nthree",https://t/x,\r\n' +
    '__proto__,,,,https://l\r\n'
  const expected = new Map([
    [
      'producer000',
      {
        ...empty,
        alias: '节点',
        statement_en: 'One, "two"\nthree',
        social_media: { twitter: 'https://t/x' },
      },
    ],
    ['__proto__', { ...empty, logo: 'https://l' }],
  ])
  expect(parseProfiles(json)).toEqual(expected)
  expect(parseProfiles(csv)).toEqual(expected)
})

test('parseProfiles: a file without profiles gives an empty list', () => {
  expect(parseProfiles('[]')).toEqual(new Map())
  expect(parseProfiles('producer,alias')).toEqual(new Map())
})

test.each([
  ['', 'the text is empty'],
  ['[1]', 'a profile is not an object'],
  ['[{"alias":"x"}]', 'a profile has no producer'],
  ['[{"producer":"a","name":"x"}]', "'name' is not a field of a profile"],
  ['[{"producer":"a","alias":1}]', "'alias' of a profile is not a string"],
  ['[{"producer":"a","social_media":{"x":1}}]', "'social_media.x' of a profile is not a string"],
  ['producer,alias\na,b\na,c', 'producer a is given twice'],
  ['producer,alias\na', 'a line has 1 cells, but the header has 2'],
  ['producer,alias\na,"b"c', 'a quote is out of place'],
])('parseProfiles: refuses %p', (text, message) => {
  expect(() => parseProfiles(text)).toThrow(message)
})
