import { expect, test } from 'bun:test'
import type { AnswerDeps } from '#actions/answer.ts'
import type { Action } from '#actions/define.ts'
import { chooseExample, type Example } from '#actions/example/choose.ts'
import { scenesIn } from '#actions/example/scenes.ts'
import { actions } from '#actions/registry.ts'
import { parametersOf } from '#actions/request/query.ts'
import type { Store } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'
import { serveGenerated } from '../generator/serve.ts'
import { small } from '../generator/small.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { loadFrom, temporarySqlite } from '../support/stores/loading.ts'

const options = { lang: 'en', format: 'envelope', compat: 'none', numbers: 'string' } as const

const examplesOf = async (store: Store): Promise<ReadonlyMap<Action, Example | undefined>> => {
  const deps: AnswerDeps = {
    store,
    node: undefined,
    prices: { get: () => undefined },
    profiles: { get: () => undefined },
    clock: systemClock,
  }
  const scenes = await store.read(scenesIn)
  const { signal } = new AbortController()
  const found = new Map<Action, Example | undefined>()
  for (const action of actions)
    found.set(action, await chooseExample(deps, { action, scenes }, { options, signal }))
  return found
}

/** Actions without an example, and lists whose example shows no row. */
const missing = (examples: ReadonlyMap<Action, Example | undefined>): readonly string[] =>
  actions
    .filter(action => {
      const { list } = action
      const data: Readonly<Record<string, unknown>> = JSON.parse(examples.get(action)?.data ?? '{}')
      return list === undefined ? Object.keys(data).length === 0 : !(data[list] as readonly [])?.length
    })
    .map(({ action }) => action)

test('examples: every action has one on the recorded chain, with content', async () => {
  const examples = await examplesOf(await loadedStore())
  expect(missing(examples)).toEqual([])
  for (const action of actions) {
    const chosen = Object.keys(examples.get(action)?.params ?? {})
    // What the action's own example shows is shown, whatever the chain.
    expect(chosen.toSorted()).toEqual(Object.keys(action.example).toSorted())
  }
})

for (const profile of ['sparse', 'mixed'] as const)
  test(`examples: every action has one on a ${profile} generated chain, with content`, async () => {
    const { store, destroy } = await temporarySqlite()
    const node = serveGenerated(small(profile))
    await loadFrom(node.url, store, { prove: 'signed' })
    await node.stop()
    const examples = await examplesOf(store)
    expect(missing(examples)).toEqual([])
    await destroy()
  }, 300_000)

test('examples: a store with nothing loaded has none, and says so', async () => {
  const { store, destroy } = await temporarySqlite()
  await expect(store.read(scenesIn)).rejects.toThrow('nothing is loaded yet')
  await destroy()
})

test('examples: a required parameter that can have any value names what it is of the chain', () => {
  const open = actions.flatMap(({ action, params }) =>
    parametersOf(params)
      .filter(({ required, word }) => required && word.values === undefined && word.sample === undefined)
      .map(({ name }) => `${action} ${name}`),
  )
  expect(open).toEqual([])
})
