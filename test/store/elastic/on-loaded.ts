import { identity, tellingBatch } from '#test/store/suite/fixture.ts'
import { commitBatch } from '#test/support/stores/commit-batch.ts'
import { openTestElastic, type TestElastic } from '#test/support/stores/elasticsearch.ts'

type Options = Parameters<typeof openTestElastic>[0]

/** A store loaded up to a height, without a writer. */
export async function loadedTo(height: number, options?: Options): Promise<TestElastic> {
  const target = openTestElastic(options)
  await target.store.create()
  const writer = await target.store.takeOver(identity)
  await commitBatch(writer, tellingBatch(0, height))
  await writer.release()
  return target
}

/** Runs one piece of work on such a store. The work may damage it. */
export async function onLoaded(
  loaded: () => Promise<TestElastic>,
  work: (target: TestElastic) => Promise<void>,
): Promise<void> {
  const target = await loaded()
  try {
    await work(target)
  } finally {
    await target.destroy()
  }
}
