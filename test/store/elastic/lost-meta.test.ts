import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { batchOf, identity, publishedAt } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, type TestElastic } from '#test/support/stores/elasticsearch.ts'
import { loadedTo, onLoaded } from './on-loaded.ts'

const HEIGHT = 3

const loaded = () => loadedTo(HEIGHT)
const onOwn = (work: (target: TestElastic) => Promise<void>) => onLoaded(loaded, work)

const metaAt = ({ url, prefix }: TestElastic): string => `${url}/${prefix}-meta-0`
const documentAt = (target: TestElastic, id: 'checkpoint' | 'published'): string =>
  `${metaAt(target)}/_doc/${id}?refresh=true`

async function refusesToGoOn({ reopen }: TestElastic, message: RegExp): Promise<void> {
  const other = reopen()
  for (const call of [() => other.create().then(() => other.takeOver(identity)), () => other.takeOver(identity)]) {
    const refused = await failureOf(call())
    expect(refused.kind).toBe('damaged')
    expect(refused.message).toMatch(message)
    expect(refused.help).toMatch(/iostlens repair/)
  }
  // A read-only process does not mistake it for a store without blocks either.
  const seen = await failureOf(other.check())
  expect([seen.kind, /no checkpoint in|'checkpoint' of/.test(seen.message)]).toEqual(['damaged', true])
}

describe.skipIf(elasticsearchUrl() === undefined)('lost documents of meta', () => {
  // A refused call changes nothing, so one store serves for all documents, which are damaged and repaired one by one.
  describe('a document', () => {
    let target: TestElastic
    beforeAll(async () => {
      target = await loaded()
    })
    afterAll(() => target.destroy())

    /** Damages a document, runs `look`, and restores the document. */
    const damaged = async (
      id: 'checkpoint' | 'published',
      damage: (document: string) => Promise<unknown>,
      look: () => Promise<void>,
    ): Promise<void> => {
      const document = documentAt(target, id)
      const { _source } = await ask<{ readonly _source: object }>('GET', document)
      await damage(document)
      await look()
      await ask('PUT', document, _source)
      expect(await target.reopen().read(async view => view.at)).toEqual(publishedAt(HEIGHT))
    }

    test('a store with documents whose checkpoint is deleted is never loaded from the start', () =>
      damaged(
        'checkpoint',
        document => ask('DELETE', document),
        () => refusesToGoOn(target, /no checkpoint in .*-meta/),
      ))

    for (const [what, source] of [
      ['nothing', {}],
      ['an empty object', { body: '{}' }],
      ['half of its text', { body: '{"schema":1,"chain' }],
      ['a list', { body: '[]' }],
      ['partitions that go back', { body: JSON.stringify({ partitions: [0, 7, 5] }) }],
    ] as const) {
      test(`a checkpoint that contains ${what} is refused by its name`, () =>
        damaged(
          'checkpoint',
          document => ask('PUT', document, source),
          () => refusesToGoOn(target, /'checkpoint' of .*-meta at .* is unreadable or invalid/),
        ))
      test(`a published height that contains ${what} is not used for an answer`, () =>
        damaged(
          'published',
          document => ask('PUT', document, source),
          async () => {
            const refused = await failureOf(target.reopen().read(async view => view.at))
            expect([refused.kind, refused.retryable]).toEqual(['damaged', false])
            expect(refused.message).toMatch(/'published' of .*-meta/)
          },
        ))
    }
  })

  test('a store with documents whose meta index is deleted is never loaded from the start', () =>
    onOwn(async target => {
      await ask('DELETE', metaAt(target))
      await refusesToGoOn(target, /no checkpoint in .*-meta|missing.*meta/)
    }))

  test('a deleted published height is published again by the next loader', () =>
    onOwn(async target => {
      await ask('DELETE', documentAt(target, 'published'))
      const other = target.reopen()
      expect((await failureOf(other.read(async view => view.at))).kind).toBe('unavailable')
      const writer = await other.takeOver(identity)
      expect(await other.published()).toEqual(publishedAt(HEIGHT))
      await commitBatch(writer, batchOf(HEIGHT + 1, HEIGHT + 1))
      await writer.release()
    }))
})
