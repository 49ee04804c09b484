import { describe, expect, test } from 'bun:test'
import type { Replay } from '#test/replay/serve.ts'
import { failureOf } from '#test/support/refusal.ts'
import { cliFolder } from '../../support/processes/cli-process.ts'
import { ask } from '../../support/stores/ask-elastic.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '../../support/stores/elasticsearch.ts'
import { loadFrom, replayed } from '../../support/stores/loading.ts'

const HEIGHT = 5

/** What a template gives to new indices, and what is said of an index that has it. */
const CHANGING: readonly (readonly [what: string, template: object, says: string])[] = [
  ['a field', { mappings: { properties: { team: { type: 'keyword' } } } }, 'field team is {"type":"keyword"}'],
  ['no sources', { mappings: { _source: { enabled: false } } }, '_source is {"enabled":false}; expected nothing'],
  ['a limit of fields', { settings: { 'index.mapping.total_fields.limit': 2 } }, 'Limit of total fields [2]'],
]

/** Runs `work` with an empty store and its node while a template applies to the store's indices. */
async function withTemplate(
  template: object,
  work: (
    target: TestElastic,
    parts: { readonly node: Replay; readonly put: () => Promise<unknown>; readonly remove: () => Promise<unknown> },
  ) => Promise<void>,
): Promise<void> {
  await using node = await replayed(HEIGHT)
  const target = openTestElastic()
  const path = `${target.url}/_index_template/${target.prefix}`
  const remove = () => fetch(path, { method: 'DELETE' })
  const put = () => ask('PUT', path, { index_patterns: [`${target.prefix}-*`], priority: 1_000, template })
  await put()
  try {
    await work(target, { node, put, remove })
  } finally {
    await remove()
    await target.destroy()
  }
}

const excluded = ({ prefix }: TestElastic): string => `Exclude ${prefix}-* from the index_patterns of that template`

describe.skipIf(elasticsearchUrl() === undefined)("an operator's index template", () => {
  test.each(CHANGING)(
    'that gives %s is named as the cause; its remedy ends in a store that loads',
    (_, template, says) =>
      withTemplate(template, async (target, { node, remove }) => {
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
        expect(await loadFrom(node.url, target.store)).toBe(HEIGHT)
      }),
  )

  test('a migration whose new indices it changes names it, and ends once it is gone', async () => {
    const field = { properties: { team: { type: 'keyword' } } }
    await withTemplate({ mappings: field }, async (target, { node, put, remove }) => {
      await using folder = await cliFolder()
      const migrate = () =>
        folder.run(['indices', 'migrate', '--store', `${target.url}/${target.prefix}`, '--node', node.url])
      await remove()
      await loadFrom(node.url, target.store)
      await put()
      await ask('PUT', `${target.url}/${target.prefix}-state-0/_mapping`, field)
      const { help = '' } = await failureOf(target.store.takeOver({ chainId: 1, genesis: '', derivation: 1 }))
      expect(help).toContain(excluded(target))
      expect(help).toContain('iostlens indices migrate')
      const refused = await migrate()
      expect([refused.code, refused.err]).toEqual([3, expect.stringContaining(excluded(target))])
      const told = await folder.run(['indices', 'check', '--store', `${target.url}/${target.prefix}`])
      expect([told.code, told.out]).toEqual([3, expect.stringContaining(excluded(target))])
      await remove()
      expect(await migrate()).toMatchObject({ code: 0 })
      expect(await target.store.check()).toEqual([])
    })
  })
})
