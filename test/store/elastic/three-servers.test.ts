import { afterAll, beforeAll, describe } from 'bun:test'
import { SOAK } from '#test/support/processes/soak.ts'
import { threeServers } from '#test/support/stores/elastic-cluster.ts'
import { ownServers } from '#test/support/stores/elastic-process.ts'
import { hungSuite } from './hung.ts'
import { lostNodesSuite } from './killed.ts'

// One cluster for all tests that need three servers, because a start takes 10 s of CPU for each of them.

/** The cluster does not drop a server that hangs. A server that ends is still dropped. */
const UNNOTICED = ['follower_check', 'leader_check'].map(check => `cluster.fault_detection.${check}.timeout: 1h`)

const own = await ownServers()

describe.skipIf(own === undefined)('a cluster of three servers', () => {
  let servers: Awaited<ReturnType<typeof threeServers>>

  beforeAll(async () => {
    if (own === undefined) return
    servers = await threeServers(own, { settings: UNNOTICED })
    await Promise.all(servers.map(({ start }) => start()))
  })
  afterAll(() => own?.[Symbol.dispose]())

  describe('one of the servers is in trouble', () => hungSuite(() => servers))
  // This suite comes last, because one of the servers stays down.
  describe('the servers are killed under load and queries', () => lostNodesSuite(() => servers, SOAK ? 16 : 1))
})
