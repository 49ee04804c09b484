import { afterAll, beforeAll, describe } from 'bun:test'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CliFolder, cliFolder } from '#test/support/processes/cli-process.ts'
import { SOAK } from '#test/support/processes/soak.ts'
import { healthy } from '#test/support/stores/elastic-cluster.ts'
import { freePorts, type OwnServer, ownServers } from '#test/support/stores/elastic-process.ts'
import { autoCreateSuite } from './auto-create.ts'
import { killedSuite } from './killed.ts'
import { snapshotSuite } from './snapshot.ts'

// One server for all tests that change settings of a whole cluster or end the server, because a start takes
// 10 s of CPU.
const servers = await ownServers()

describe.skipIf(servers === undefined)('a separate server', () => {
  let server: OwnServer
  let folder: CliFolder

  beforeAll(async () => {
    if (servers === undefined) return
    folder = await cliFolder()
    const repository = join(folder.path, 'snapshots')
    mkdirSync(repository)
    // Elasticsearch may run as another user.
    chmodSync(folder.path, 0o755)
    chmodSync(repository, 0o777)
    server = servers.make('own', await freePorts(), {
      settings: ['discovery.type: single-node', 'xpack.security.enabled: false', `path.repo: ${repository}`],
    })
    await server.start()
    await healthy(server.url, 'wait_for_status=yellow')
  })
  afterAll(async () => {
    servers?.[Symbol.dispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  // This suite comes first, because each start has to recover all stored data.
  describe('the server is killed under load and queries', () => killedSuite(() => server, SOAK ? 20 : 1))
  describe('docs/operating-elasticsearch.md: a snapshot of Elasticsearch', () => snapshotSuite(() => server))
  // This suite comes last, because afterwards the server creates indices automatically.
  describe('the server creates any index on its first write', () => autoCreateSuite(() => server))
})
