import type { Block } from '#chain/block.ts'

/**
 * The receipts of successful transactions whose names match, with their place and their arguments as texts. `name`: the
 * first group of the pattern. Independent of `src/derive`.
 */
export function* readReceipts(blocks: Iterable<Block>, names: RegExp) {
  for (const { height, time, transactions } of blocks)
    for (const [position, tx] of transactions.entries())
      for (const { funcName, content } of tx.receipt.statusCode === 'SUCCESS' ? tx.receipt.receipts : []) {
        const [, name] = names.exec(funcName) ?? []
        if (name !== undefined)
          yield { height, time, position, tx, name, args: (JSON.parse(content) as unknown[]).map(String) }
      }
}
