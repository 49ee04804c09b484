import type { Block } from '#chain/block.ts'
import { toIso } from '#chain/time.ts'

/**
 * The transactions of the chain except the base transactions, computed directly from the blocks. All fields
 * but height and time are those of the answer.
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

/** Without trailing zeros. */
const cut = (text: string): string => text.replace(/\.?0+$/, '')
