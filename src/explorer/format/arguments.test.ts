import { expect, test } from 'bun:test'
import { argumentsIn, UNKNOWN_SIGNATURE } from './arguments.ts'

const namesAndValues = (data: string) =>
  argumentsIn({ contract: 'token.iost', action_name: 'balanceOf', data }, UNKNOWN_SIGNATURE)?.map(({ name, value }) => [
    name,
    value,
  ])

test('argumentsIn: the text after the arguments is not shown, as the chain ignores it', () => {
  const read = namesAndValues('["iost","alice"]')
  expect(read?.map(([, value]) => value)).toEqual(['iost', 'alice'])
  expect(namesAndValues('["iost","alice"] // thanks')).toEqual(read)
  expect(namesAndValues('thanks')).toBeUndefined()
})
