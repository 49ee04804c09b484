import { expect, test } from 'bun:test'
import { sampling } from './access-log.ts'
import { ipAddressIn, ipAddressText } from './ip-address.ts'

test('sampling: the first of each N, then again', () => {
  const isLogged = sampling(3)
  expect(Array.from({ length: 7 }, isLogged)).toEqual([true, false, false, true, false, false, true])
  const all = sampling(1)
  expect(Array.from({ length: 3 }, all)).toEqual([true, true, true])
})

test('ipAddressText: as it was written', () => {
  const texts = ['192.0.2.1', '0.0.0.0', '255.255.255.255', '2001:db8:0:0:0:0:0:1', 'fe80:1:2:3:4:5:6:ffff']
  for (const text of texts) {
    const address = ipAddressIn(text)
    expect(address === undefined ? undefined : ipAddressText(address)).toBe(text)
  }
})
