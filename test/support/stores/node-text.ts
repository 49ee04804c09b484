import type { Transaction } from '#chain/block.ts'

export const nodeText = ({ receipt: told, ...tx }: Transaction): string =>
  JSON.stringify({
    hash: tx.hash,
    time: `${tx.time}`,
    expiration: `${tx.expiration}`,
    gas_ratio: 1,
    gas_limit: 1_000_000,
    delay: `${tx.delay}`,
    chain_id: tx.chainId,
    actions: tx.actions.map(({ contract, actionName, data }) => ({
      contract,
      action_name: actionName,
      data,
    })),
    signers: [],
    publisher: tx.publisher,
    referred_tx: '',
    amount_limit: [],
    tx_receipt: {
      tx_hash: tx.hash,
      gas_usage: 0,
      ram_usage: {},
      status_code: told.statusCode,
      message: '',
      returns: told.returns,
      receipts: told.receipts.map(({ funcName, content }) => ({ func_name: funcName, content })),
    },
  })
