import { expect, test } from 'bun:test'
import { findScenes } from '#actions/example/choose.ts'
import { actions } from '#actions/registry.ts'
import { listParameters } from '#actions/request/query.ts'
import { loadedStore } from '../support/stores/loaded.ts'
import { temporarySqlite } from '../support/stores/loading.ts'
import { examplesOf, missing } from './examples.ts'

test('examples: every action has an example with content on the recorded chain', async () => {
  const examples = await examplesOf(await loadedStore())
  expect(missing(examples)).toEqual([])
  for (const action of actions) {
    const chosen = Object.keys(examples.get(action)?.params ?? {})
    // The parameters are those of the action's own example, on any chain.
    expect(chosen.toSorted()).toEqual(Object.keys(action.example).toSorted())
  }
})

test('examples: a store with nothing loaded fails with that reason', async () => {
  const { store, destroy } = await temporarySqlite()
  await expect(store.read(findScenes)).rejects.toThrow('nothing is loaded yet')
  await destroy()
})

test('examples: a required parameter that accepts any value declares which kind of value it takes from the chain', () => {
  const open = actions.flatMap(({ action, params }) =>
    listParameters(params)
      .filter(({ required, spec }) => required && spec.values === undefined && spec.sample === undefined)
      .map(({ name }) => `${action} ${name}`),
  )
  expect(open).toEqual([])
})
