import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { batchOf, identity, publishedAt, tellingBatch } from '#test/store/suite/fixture.ts'
import { failureOf } from '#test/store/suite/harness.ts'
import { ask } from '#test/support/stores/ask-elastic.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { elasticsearchUrl, openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'

const HEIGHT = 3

/** A loaded store whose meta index something happens to; handles of its own see what is left. */
const damaged = async (
  damage: (target: TestElastic, path: (rest: string) => string) => Promise<unknown>,
  look: (target: TestElastic) => Promise<void>,
): Promise<void> => {
  const target = openTestElastic()
  try {
    await target.store.create()
    const writer = await target.store.takeOver(identity)
    await commitBatch(writer, tellingBatch(0, HEIGHT))
    await writer.release()
    await damage(target, rest => `${target.url}/${target.prefix}-${rest}`)
    await look(target)
  } finally {
    await target.destroy()
  }
}

const refusesToGoOn = async ({ reopen }: TestElastic, message: RegExp): Promise<void> => {
  const other = reopen()
  for (const call of [
    () => other.create().then(() => other.takeOver(identity)),
    () => other.takeOver(identity),
  ]) {
    const refused = await failureOf(call())
    expect(refused.kind).toBe('damaged')
    expect(refused.message).toMatch(message)
    expect(refused.help).toMatch(/iostlens repair/)
  }
  // Nor is it a store where nothing is loaded yet, to whoever looks on.
  const seen = await failureOf(other.check())
  expect([seen.kind, /no checkpoint in|'checkpoint' of/.test(seen.message)]).toEqual(['damaged', true])
}

describe.skipIf(elasticsearchUrl() === undefined)('what is lost of meta', () => {
  setDefaultTimeout(300_000)

  test('a checkpoint that is deleted while documents are there is never begun anew', () =>
    damaged(
      (_, path) => ask('DELETE', path('meta/_doc/checkpoint?refresh=true')),
      target => refusesToGoOn(target, /no checkpoint in .*-meta/),
    ))

  test('a meta index that is deleted while documents are there is never begun anew', () =>
    damaged(
      (_, path) => ask('DELETE', path('meta-0')),
      target => refusesToGoOn(target, /no checkpoint in .*-meta|missing.*meta/),
    ))

  for (const [what, source] of [
    ['nothing', {}],
    ['an empty object', { body: '{}' }],
    ['half of its text', { body: '{"schema":1,"chain' }],
    ['a list', { body: '[]' }],
    ['partitions that go back', { body: JSON.stringify({ partitions: [0, 7, 5] }) }],
  ] as const) {
    test(`a checkpoint with ${what} in it is refused by its name`, () =>
      damaged(
        (_, path) => ask('PUT', path('meta-0/_doc/checkpoint?refresh=true'), source),
        target => refusesToGoOn(target, /'checkpoint' of .*-meta at .* is unreadable or invalid/),
      ))
    test(`a published height with ${what} in it is no answer`, () =>
      damaged(
        (_, path) => ask('PUT', path('meta-0/_doc/published?refresh=true'), source),
        async ({ reopen }) => {
          const refused = await failureOf(reopen().read(async view => view.at))
          expect([refused.kind, refused.retryable]).toEqual(['damaged', false])
          expect(refused.message).toMatch(/'published' of .*-meta/)
        },
      ))
  }

  test('a published height that is deleted is published again by the next loader', () =>
    damaged(
      (_, path) => ask('DELETE', path('meta-0/_doc/published?refresh=true')),
      async ({ reopen }) => {
        const other = reopen()
        expect((await failureOf(other.read(async view => view.at))).kind).toBe('unavailable')
        const writer = await other.takeOver(identity)
        expect(await other.published()).toEqual(publishedAt(HEIGHT))
        await commitBatch(writer, batchOf(HEIGHT + 1, HEIGHT + 1))
        await writer.release()
      },
    ))
})
