import { expect, test } from 'bun:test'
import type { AnswerDeps } from '#actions/answer.ts'
import type { ApiAction } from '#actions/define.ts'
import { chooseExample, type Example, findScenes } from '#actions/example/choose.ts'
import { actions } from '#actions/registry.ts'
import type { Store } from '#store/port.ts'
import { systemClock } from '#time/clock.ts'

const options = { lang: 'en', format: 'envelope', compat: 'none', numbers: 'string' } as const

export async function examplesOf(store: Store): Promise<ReadonlyMap<ApiAction, Example | undefined>> {
  const deps: AnswerDeps = {
    store,
    node: undefined,
    prices: { get: () => undefined },
    profiles: { get: () => undefined },
    clock: systemClock,
  }
  const scenes = await store.read(findScenes)
  const { signal } = new AbortController()
  const found = new Map<ApiAction, Example | undefined>()
  for (const action of actions) found.set(action, await chooseExample(deps, { action, scenes }, { options, signal }))
  return found
}

/** Actions without an example, and lists whose example has no rows. */
export const missing = (examples: ReadonlyMap<ApiAction, Example | undefined>): readonly string[] =>
  actions
    .filter(action => {
      const { list } = action
      const data: Readonly<Record<string, unknown>> = JSON.parse(examples.get(action)?.data ?? '{}')
      return list === undefined ? Object.keys(data).length === 0 : !(data[list] as readonly [])?.length
    })
    .map(({ action }) => action)

/** Examples on a chain other than the recorded one. */
export function exampleSuite(store: () => Store): void {
  test('examples: every action has an example with content', async () => {
    expect(missing(await examplesOf(store()))).toEqual([])
  })
}
