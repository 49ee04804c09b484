import type { Block } from './block.ts'

/**
 * The bytes of `info` in a block's head, which are hashed, against what nodes show of them. What was different in earlier
 * years (go-iost rpc/convert.go and verifier/verifier.go):
 *
 * | when | in the head | nodes built then show |
 * |---|---|---|
 * | genesis | nothing | null |
 * | blocks of old producers | `{"mode":M,"thread":T,"batch":[…] or null}` | `{"mode":M,"thread":T,"batch_index":[…]}` |
 * | since | `{}` | null for every block, whatever is in its head |
 */
const PLAIN = ['{}', '', '{"mode":0,"thread":0,"batch":null}'] as const

type OldInfo = { readonly mode: number; readonly thread: number; readonly batch_index: readonly number[] }

const isCount = (value: unknown): value is number => Number.isSafeInteger(value)

const oldInfo = (info: string): OldInfo | undefined => {
  try {
    const { mode, thread, batch_index: batch } = JSON.parse(info) as Record<keyof OldInfo, unknown>
    return isCount(mode) && isCount(thread) && Array.isArray(batch) && batch.every(isCount)
      ? { mode, thread, batch_index: batch }
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Texts that the head may hold where a node shows this `info` (compact JSON, `{}` for null) and `orig_info`, which is the
 * very text when there is one. None: it cannot be.
 */
export const infoForms = ({ info, origInfo }: Pick<Block, 'info' | 'origInfo'>): readonly string[] => {
  if (info === '{}') return origInfo === '' ? PLAIN : [origInfo]
  return origInfo === '' ? oldForms(info) : oldForms(info).filter(form => form === origInfo)
}

const oldForms = (info: string): readonly string[] => {
  const old = oldInfo(info)
  if (old === undefined || info !== JSON.stringify(old)) return []
  const { mode, thread, batch_index: batch } = old
  const written = `{"mode":${mode},"thread":${thread},"batch":`
  if (batch.length > 0) return [`${written}${JSON.stringify(batch)}}`]
  const empty = [`${written}null}`, `${written}[]}`]
  return mode === 0 && thread === 0 ? [...empty, ...PLAIN] : empty
}

/** `orig_info` of a block whose node shows no `info`: what its head holds, unless that is one of the usual forms. */
export const origInfoOf = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes).toString()
  return (PLAIN as readonly string[]).includes(text) ? '' : text
}
