import { describe, expect, test } from 'bun:test'
import { ask } from '#test/support/stores/ask.ts'

describe('get-producer-detail', () => {
  test('get-producer-detail: returns the texts of the profile file', async () => {
    const profile = {
      alias: '节点',
      alias_en: 'Node',
      description: '介绍',
      description_en: 'About',
      logo: 'https://x/l.png',
      statement: '宣言',
      statement_en: 'Say',
      type: '交易所',
      type_en: 'Exchange',
      social_media: { twitter: 'https://x' },
    }
    const profiles = { get: (name: string) => (name === 'prod_01' ? profile : undefined) }
    const said = await ask('get-producer-detail', { producer: 'prod_01' }, { deps: { profiles } })
    expect(Object.fromEntries(Object.keys(profile).map(name => [name, said[name]]))).toEqual(profile)
    const other = await ask('get-producer-detail', { producer: 'prod_02' }, { deps: { profiles } })
    expect([other.alias, other.social_media]).toEqual(['', {}])
  })
})
