import type { Block } from '#chain/block.ts'
import { toIso } from '#chain/time.ts'

/**
 * The transactions of the chain but those that it puts into each block itself, as plainly as the blocks tell; apart from
 * height and time the fields are those of the answer.
 */
export const plainTransactions = (blocks: readonly Block[]) =>
  blocks.flatMap(({ height, time, transactions }) =>
    transactions
      .filter(({ publisher }) => publisher !== 'base.iost')
      .map(({ hash, publisher, actions, receipt }) => ({
        height,
        time,
        tx_hash: hash,
        block: height,
        created_at: toIso(time),
        publisher,
        contract: actions[0]?.contract ?? '',
        action_name: actions[0]?.actionName ?? '',
        actions: actions.length,
        status_code: receipt.statusCode,
        gas_fee: cut((Number(receipt.gasUsage) / 100).toFixed(2)),
      })),
  )

/** Without zeros behind. */
const cut = (text: string): string => text.replace(/\.?0+$/, '')
