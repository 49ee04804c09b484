import type { Writer } from '#store/port.ts'

/** The writer, which calls `onChange` after each change: readers of the same process see it at once. */
export const tellingWriter = (writer: Writer, onChange: () => void): Writer => ({
  ...writer,
  get checkpoint() {
    return writer.checkpoint
  },
  get unfinished() {
    return writer.unfinished
  },
  commit: end => writer.commit(end).finally(onChange),
  accept: () => writer.accept?.().finally(onChange) ?? Promise.resolve(),
  rewrite: rewrite => writer.rewrite(rewrite).finally(onChange),
  takeBack: height => writer.takeBack(height).finally(onChange),
  settle: settled => writer.settle(settled).finally(onChange),
})
