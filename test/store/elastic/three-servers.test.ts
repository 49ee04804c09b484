import { afterAll, beforeAll, describe } from 'bun:test'
import { threeServers } from '#test/support/stores/elastic-cluster.ts'
import { ownServers } from '#test/support/stores/elastic-process.ts'
import { hungSuite } from './hung.ts'
import { lostNodesSuite } from './killed.ts'

// One cluster is started for all that needs three servers: a start takes 10 s of CPU for each of them.

/** The cluster does not help by dropping a server that hangs; one that ends is dropped all the same. */
const UNNOTICED = ['follower_check', 'leader_check'].map(
  check => `cluster.fault_detection.${check}.timeout: 1h`,
)

const own = await ownServers()

describe.skipIf(own === undefined)('a cluster of three servers', () => {
  let servers: Awaited<ReturnType<typeof threeServers>>

  beforeAll(async () => {
    if (own === undefined) return
    servers = await threeServers(own, { settings: UNNOTICED })
    await Promise.all(servers.map(({ start }) => start()))
  })
  afterAll(() => own?.[Symbol.dispose]())

  describe('one of which is in trouble', () => hungSuite(() => servers))
  // Last: one of them stays away.
  describe('that are killed under load and queries', () => lostNodesSuite(() => servers))
})
