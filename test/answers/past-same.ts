import { expect, test } from 'bun:test'
import type { Store } from '#store/port.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { plainBallots } from '../support/oracle/plain-ballots.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { seeded } from '../support/seeded.ts'
import { askText } from '../support/stores/ask.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { pastSums } from './past-sums.ts'

const blocks = (await recordedBlocks()).map(({ block }) => block)
const ballots = plainBallots(blocks)
const random = seeded(2212)
const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
const height = (): string => String(Math.floor(random() * blocks.length))
const producers = [...new Set(ballots.map(({ producer }) => producer))]
const voters = [...new Set(ballots.map(({ voter }) => voter))]

type Params = Readonly<Record<string, string>>

/** Random calls, the same number for each action. */
const calls = (): readonly (readonly [string, Params])[] =>
  Array.from({ length: SOAK ? 12 : 5 }, (): readonly (readonly [string, Params])[] => {
    const start = Math.floor(random() * (blocks.length - 1))
    return [
      ['get-vote-history', { account: one(voters), page: '1', size: '7', start_block: height() }],
      ['get-producer-voter', { producer: one(producers), at_block: height() }],
      ['get-producer-voter', { producer: one(producers), at_block: height(), page: '2', size: '5' }],
      ['get-token-holder', { token: one(['iost', 'ram', 'contribute', 'big8']), at_block: height(), page: '1' }],
      ['get-reward-shares', { producer: one(producers), start_block: String(start) }],
      ['get-reward-history', { producer: one(producers), sort: 'asc', end_block: height() }],
      ['get-supply-history', { token: one(['iost', 'ram', 'contribute']), step: one(['day', 'week', 'month']) }],
      ['get-supply-history', { token: one(['iost', 'ram', 'contribute']), start_block: height() }],
      ['get-account-balance', { account: one(voters), at_block: height() }],
      ['get-account-assets', { account: one(voters), at_block: height() }],
      ['get-account-assets', { account: one(voters) }],
    ]
  }).flat()

const exportsOf = [
  ['token', 'get-token-holder', { token: 'iost', at_block: '3000' }],
  ['producer', 'get-producer-voter', { producer: 'prod_02', at_block: '3000' }],
  ['producer', 'get-reward-shares', { producer: 'prod_02', start_block: '1500', end_block: '3000' }],
  ['producer', 'get-reward-history', { producer: 'prod_02' }],
  ['account', 'get-vote-history', { account: 'whale_01' }],
  ['account', 'get-balance-history', { account: 'whale_01', format: 'csv', csv: 'ledger' }],
  ['account', 'get-account-tx', { account: 'busyhub', format: 'csv', csv: 'koinly', min_amount: '1' }],
] as const

/**
 * Answers of the past over the whole recorded chain are the same in another store as in the SQLite file of all tests.
 */
export function pastSameSuite(store: () => Store): void {
  for (const [action, params] of calls())
    test(`${action} ${new URLSearchParams(params)}: same answer as on SQLite`, async () => {
      expect(await askText(action, params, { deps: { store: store() } })).toBe(await askText(action, params))
    })

  pastSums({ deps: () => ({ store: store() }), ...(SOAK ? { count: 2, every: 5 } : { count: 1, every: 10 }) })

  for (const [module, action, params] of exportsOf)
    test(`${action} as an export: same answer as on SQLite`, async () => {
      const [lines = '', other = ''] = await Promise.all(
        [store(), await loadedStore()].map(async each => {
          const { ask, key } = serviceOn(each)
          const query = new URLSearchParams({ apikey: key, module, action, format: 'ndjson', ...params })
          return (await ask(`/api/?${query}`)).text()
        }),
      )
      expect(lines.split('\n').length).toBeGreaterThan(3)
      expect(lines).toBe(other)
    })
}
