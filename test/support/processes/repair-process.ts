import type { Rewrite } from '#store/port.ts'
import { audited } from '../stores/audited.ts'
import { openNamed } from '../stores/test-state.ts'

/**
 * A repair to be killed: `repair-process.ts sqlite PATH` or `… elastic URL PREFIX`. Writes one document at a time, so
 * that it can be killed between any two, and prints a line before and after each. Exits with 0 when all is repaired.
 */
const store = openNamed(process.argv.slice(2))

const parts = ({ put, remove, unplace }: Rewrite): readonly Rewrite[] => [
  ...put.map(each => ({ put: [each], remove: [], unplace: [] })),
  ...remove.map(each => ({ put: [], remove: [each], unplace: [] })),
  ...unplace.map(each => ({ put: [], remove: [], unplace: [each] })),
]

async function main(): Promise<void> {
  const identity = await store.identity()
  if (identity === undefined) throw new Error('Nothing is loaded.')
  const writer = await store.takeOver(identity, { repair: true })
  await audited(store, {
    writer: {
      ...writer,
      rewrite: async rewrite => {
        for (const part of parts(rewrite)) {
          process.stdout.write('writing\n')
          await writer.rewrite(part)
          process.stdout.write('written\n')
        }
      },
    },
  })
  await writer.release()
  await store.close()
  process.exit(0)
}
void main()
