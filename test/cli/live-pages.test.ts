import { expect, test } from 'bun:test'
import { until } from '#test/support/wait.ts'
import { recordedBlocks } from '../support/nodes/recording.ts'
import { cliFolder } from '../support/processes/cli-process.ts'
import { feedEvents } from '../support/processes/feed-client.ts'
import { commitRuns } from '../support/stores/commit-runs.ts'
import { temporarySqlite } from '../support/stores/loading.ts'

/** The number of open live pages. */
const PAGES = 16

test('live pages: all receive each height, are counted, and end with the service', async () => {
  const { store, path, destroy } = await temporarySqlite()
  const blocks = await recordedBlocks()
  await using folder = await cliFolder()
  const args = ['--listen', '127.0.0.1:0', '--store', `sqlite:${path}`]
  const limits = ['--explorer', '--max-feeds-per-key', String(PAGES), '--base-path', '/iost']
  let service: ReturnType<typeof folder.start> | undefined
  let url = ''
  const open = () => fetch(`${url}/iost/live`, { keepalive: false, headers: { Connection: 'close' } })
  /** The last message to each page. */
  const last: string[] = []
  const follow = async (at: number): Promise<void> => {
    const response = await open()
    expect(response.status).toBe(200)
    void (async () => {
      for await (const { event, data } of feedEvents(response.body))
        if (event !== 'standing') last[at] = event === 'message' ? data : JSON.parse(data).message
    })()
  }
  const all = async (text: string): Promise<void> => {
    await until(() => last.filter(each => each === text).length >= PAGES)
  }
  await commitRuns(store, [blocks.slice(0, 11), blocks.slice(11, 12)], {
    lib: 11,
    onCommitted: async height => {
      if (height === 10) {
        service = folder.start(['serve', ...args, ...limits])
        url = (await service.firstLine).replace(/\/iost$/, '')
        for (let at = 0; at < PAGES; at++) await follow(at)
      }
      await all(String(height))
    },
  })
  const refused = await open()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  const metrics = await (await fetch(`${url}/iost/metrics`)).text()
  expect(metrics).toContain(`\niostlens_live_pages_open ${PAGES}\n`)
  service?.kill('SIGTERM')
  await all('The service is stopping; connect again.')
  const { code, err } = (await service?.ended) ?? {}
  expect([code, err?.match(/ route=live .* status=200 /g)?.length]).toEqual([0, PAGES])
  await store.close()
  await destroy()
})
