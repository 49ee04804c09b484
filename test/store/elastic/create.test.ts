import { describe, expect, test } from 'bun:test'
import { metaShape, stateShapes } from '#store/elastic/schema/mappings.ts'
import { identity } from '#test/store/suite/fixture.ts'
import { cliFolder } from '#test/support/processes/cli-process.ts'
import { failureOf } from '#test/support/refusal.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { ARCHIVED, loadFrom, replayed } from '#test/support/stores/loading.ts'

const HEIGHT = 5

/** What a template gives to new indices, and what is said of an index that has it. */
const CHANGING: readonly (readonly [what: string, template: object, says: string])[] = [
  ['a field', { mappings: { properties: { team: { type: 'keyword' } } } }, 'field team is {"type":"keyword"}'],
  ['no sources', { mappings: { _source: { enabled: false } } }, '_source is {"enabled":false}; expected nothing'],
  ['a limit of fields', { settings: { 'index.mapping.total_fields.limit': 2 } }, 'Limit of total fields [2]'],
]

/** An empty store, and a template that applies to its indices. */
function openTemplated(template: object) {
  const target = openTestElastic()
  const path = `${target.url}/_index_template/${target.prefix}`
  const remove = () => fetch(path, { method: 'DELETE' })
  return {
    ...{ target, remove },
    put: () => ask('PUT', path, { index_patterns: [`${target.prefix}-*`], priority: 1_000, template }),
    [Symbol.asyncDispose]: async () => {
      await remove()
      await target.destroy()
    },
  }
}

const excluded = ({ prefix }: TestElastic): string => `Exclude ${prefix}-* from the index_patterns of that template`

describe.skipIf(elasticsearchUrl() === undefined)("an operator's index template", () => {
  test.each(CHANGING)(
    'that gives %s is named as the cause; its remedy ends in a store that loads',
    async (...[, template, says]) => {
      await using templated = openTemplated(template)
      const { target, put, remove } = templated
      await put()
      let deleted: string | undefined
      // The second time the indices are there already.
      for (const _ of [1, 2]) {
        const { message, help = '' } = await failureOf(target.store.create())
        expect(message).toContain(says)
        expect(help).toContain(excluded(target))
        expect(help).not.toContain('migrate')
        deleted = /\(DELETE (\S+)\)/.exec(help)?.[1]
      }
      await remove()
      if (deleted !== undefined) await ask('DELETE', deleted)
      expect(await loadFrom(ARCHIVED, target.store, { to: HEIGHT })).toBe(HEIGHT)
    },
  )

  test('a migration whose new indices it changes names it, and ends once it is gone', async () => {
    const field = { properties: { team: { type: 'keyword' } } }
    // A migration loads and audits all that its node has.
    await using node = await replayed(HEIGHT)
    await using templated = openTemplated({ mappings: field })
    await using folder = await cliFolder()
    const { target, put, remove } = templated
    const store = ['--store', `${target.url}/${target.prefix}`]
    const migrate = () => folder.run(['indices', 'migrate', ...store, '--node', node.url])
    await loadFrom(node.url, target.store)
    await put()
    await target.ask('PUT', 'state-0/_mapping', field)
    const { help = '' } = await failureOf(target.store.takeOver({ chainId: 1, genesis: '', derivation: 1 }))
    expect(help).toContain(excluded(target))
    expect(help).toContain('iostlens indices migrate')
    const refused = await migrate()
    expect([refused.code, refused.err]).toEqual([3, expect.stringContaining(excluded(target))])
    const told = await folder.run(['indices', 'check', ...store])
    expect([told.code, told.out]).toEqual([3, expect.stringContaining(excluded(target))])
    await remove()
    expect(await migrate()).toMatchObject({ code: 0 })
    expect(await target.store.check()).toEqual([])
  })
})

/** After this many pauses between attempts, work can only be waiting for a shard. */
const TRIES = 3

test.skipIf(elasticsearchUrl() === undefined)(
  'create waits for the shards of the checkpoint and of indices that must be empty, which another process has just created',
  async () => {
    let onWait = (): void => {}
    // Elapsed time is always 0, so retries never time out.
    const sleep = async (ms: number) => {
      // The pause between two attempts.
      if (ms === 50) onWait()
      await Bun.sleep(ms)
    }
    await using target = openTestElastic({ clock: { now: () => 0, elapsed: () => 0, sleep } })
    const isWaiting = (work: Promise<unknown>): Promise<boolean> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      let left = TRIES
      onWait = () => {
        left -= 1
        if (left === 0) resolve()
      }
      return Promise.race([work.then(() => false), promise.then(() => true)])
    }
    for (const [name, { settings, mappings }] of [
      ['meta', metaShape],
      ['state', stateShapes.state],
    ] as const)
      await target.ask('PUT', `${name}-0?wait_for_active_shards=0`, {
        settings: { index: { ...settings.index, 'routing.allocation.enable': 'none' } },
        mappings,
        aliases: { [`${target.prefix}-${name}`]: {} },
      })
    const start = (name: string) =>
      target.ask('PUT', `${name}-0/_settings`, { 'index.routing.allocation.enable': null })
    const created = target.store.create()
    expect(await isWaiting(created)).toBe(true)
    await start('meta')
    expect(await isWaiting(created)).toBe(true)
    await start('state')
    await created
    expect(await target.store.check()).toEqual([])
    expect((await target.store.takeOver(identity)).checkpoint).toBeUndefined()
  },
)
