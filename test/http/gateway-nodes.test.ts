import { expect, test } from 'bun:test'
import { createHttpCounts } from '#http/counts.ts'
import type { Store } from '#store/port.ts'
import { hangs, OURS, pair, refuses } from '#test/support/nodes/pair.ts'
import { serviceOn } from '#test/support/processes/service.ts'
import { until } from '#test/support/wait.ts'

/** The gateway never reads the store. */
const noStore = { name: 'none' } as unknown as Store

/** The service with two watched nodes. The faulty one is listed first and has the higher block. */
async function served() {
  const nodes = await pair({ wellTo: 4_840 })
  await nodes.node.watch(async () => OURS)
  const sources = new Map<string, number>()
  const counts = {
    ...createHttpCounts(),
    gatewayAnswers: {
      ...createHttpCounts().gatewayAnswers,
      add: (n: number, source = '') => {
        sources.set(source, (sources.get(source) ?? 0) + n)
      },
    },
  }
  const service = serviceOn(noStore, { node: nodes.node, clock: nodes.clock, counts })
  const ask = async (path: string): Promise<readonly [status: number, text: string]> => {
    const response = await service.ask(`/rpc${path}?apikey=${service.key}`)
    return [response.status, await response.text()]
  }
  const asked = (node: typeof nodes.sick, path: string) => node.asked.filter(one => one.path === path).length
  return {
    ...nodes,
    ask,
    sources,
    /** Number of requests to each node for a path. */
    calls: (path: string) => [asked(nodes.sick, path), asked(nodes.well, path)],
    truth: async (node: typeof nodes.sick, path: string) => (await fetch(`${node.url}${path}`)).text(),
    [Symbol.asyncDispose]: nodes[Symbol.asyncDispose],
  }
}

test('gateway: equal requests of a crowd are one call to the node, and each reader gets its bytes', async () => {
  await using service = await served()
  const path = '/getAccount/admin/true'
  const truth = await service.truth(service.sick, path)
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      // Some request other paths meanwhile.
      const own = at % 10 === 0 ? `/getBlockByNumber/${at}/false` : path
      return { own, answer: await service.ask(own) }
    }),
  )
  // A key has eight places and sixteen for waiting requests. Further requests are refused at once.
  for (const { own, answer } of answers)
    if (answer[0] !== 503) expect(answer).toEqual([200, own === path ? truth : await service.truth(service.sick, own)])
  // One call for the crowd, and one by the test for comparison.
  expect(service.calls(path)).toEqual([2, 0])
  expect(service.sources.get('joined')).toBeGreaterThan(0)
})

test('gateway: when the node hangs, the next one answers the whole crowd with one call', async () => {
  await using service = await served()
  const path = '/getAccount/admin/true'
  const truth = await service.truth(service.well, path)
  service.become(hangs)
  const asked = Promise.all(Array.from({ length: 8 }, () => service.ask(path)))
  // A request starts after the current turn of the event loop.
  await until(() => service.calls(path)[0] !== 0)
  await service.clock.awaited(700)
  await service.clock.pass(700)
  expect(await asked).toEqual(Array(8).fill([200, truth]))
  expect(service.calls(path)).toEqual([1, 2])
  expect(service.sources).toEqual(
    new Map([
      ['other_node', 1],
      ['joined', 7],
    ]),
  )
})

test('gateway: cached answers are dropped when nodes die, return or change their chain', async () => {
  await using service = await served()
  const path = '/getChainInfo'
  const high = await service.truth(service.sick, path)
  const low = await service.truth(service.well, path)
  expect(await service.ask(path)).toEqual([200, high])
  // No probe has noticed that the node died. A cached answer is at most half a second old.
  service.become(refuses)
  await service.clock.pass(500)
  expect(await service.ask(path)).toEqual([200, low])
  await service.clock.awaited(500, 2)
  await service.clock.pass(500)
  await service.clock.awaited(1_000, 2)
  service.become(() => undefined)
  // After a failed request the node is used only as a fallback for three seconds.
  for (let looks = 0; looks < 3; looks += 1) await service.look()
  expect(await service.ask(path)).toEqual([200, high])
  // A cached answer is dropped as soon as its node is known to be of another chain.
  const block = '/getBlockByNumber/4850/true'
  const text = await service.truth(service.sick, block)
  expect(await service.ask(block)).toEqual([200, text])
  service.become(async ({ path }, truth) =>
    path === '/getChainInfo' ? new Response((await truth()).replace('"chain_id":1020', '"chain_id":1024')) : undefined,
  )
  await service.look()
  expect(await service.ask(path)).toEqual([200, low])
  expect((await service.ask(block))[0]).toBe(400)
})
