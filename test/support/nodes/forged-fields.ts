import type { Written, WrittenTransaction } from './forged-chain.ts'

/** A change of one field, and the name of the field in the node's JSON. */
type Alteration = { readonly field: string; readonly alter: (block: Written) => void }

const OTHER = 'HYZKEf2mtZSaTkjEePbQTmS5VLPPKiEiMYDVbUQWCdbJ'

const blockFields: Readonly<Record<string, unknown>> = {
  hash: OTHER,
  version: '2',
  parent_hash: OTHER,
  tx_merkle_hash: OTHER,
  tx_receipt_merkle_hash: OTHER,
  number: '77',
  witness: '7G6p3UntUeo9aVnxzdYskeYLmMDmF1mcqU8Vi1Svybmt',
  time: '1795247607500776201',
  gas_usage: 12.5,
  tx_count: '3',
  info: { mode: 1, thread: 0, batch_index: [1] },
  orig_info: '{ }',
  unknown: 'field',
}

const transactionFields: Readonly<Record<string, unknown>> = {
  hash: OTHER,
  time: '1795247607000000001',
  expiration: '1795247697000000001',
  gas_ratio: 1.01,
  gas_limit: 1000000.01,
  delay: '1',
  chain_id: 1024,
  signers: ['admin@active'],
  publisher: 'admin',
  referred_tx: OTHER,
  amount_limit: [{ token: 'iost', value: '1' }],
  unknown: 'field',
}

const receiptFields: Readonly<Record<string, unknown>> = {
  tx_hash: OTHER,
  gas_usage: 1.5,
  ram_usage: { admin: '7' },
  status_code: 'TIMEOUT',
  message: 'all is well',
  returns: ['["altered"]'],
  unknown: 'field',
}

const setting =
  (place: (block: Written) => object | undefined) =>
  (prefix: string, fields: Readonly<Record<string, unknown>>): readonly Alteration[] =>
    Object.entries(fields).map(([field, value]) => ({
      field: `${prefix}${field}`,
      alter: block => Object.assign(place(block) ?? {}, { [field]: value }),
    }))

function ofTransaction(prefix: string, index: number): readonly Alteration[] {
  const tx = ({ transactions }: Written): WrittenTransaction | undefined => transactions[index]
  return [
    ...setting(tx)(prefix, transactionFields),
    ...setting(block => tx(block)?.actions[0])(`${prefix}actions.`, {
      contract: 'token721.iost',
      action_name: 'issue',
      data: '["iost","admin","zero","1",""]',
      unknown: 'field',
    }),
    {
      field: `${prefix}actions`,
      alter: block => tx(block)?.actions.push({ contract: 'a', action_name: 'b', data: '' }),
    },
    ...setting(block => tx(block)?.tx_receipt)(`${prefix}tx_receipt.`, receiptFields),
    ...setting(block => tx(block)?.tx_receipt.receipts[0])(`${prefix}tx_receipt.receipts.`, {
      func_name: 'token.iost/destroy',
      content: '["iost","admin","zero","1",""]',
      unknown: 'field',
    }),
    { field: `${prefix}tx_receipt.receipts`, alter: block => tx(block)?.tx_receipt.receipts.pop() },
  ]
}

/**
 * One alteration for every field of a block, of its base transaction, of another transaction, and of their receipts.
 */
export const alterations: readonly Alteration[] = [
  ...setting(block => block)('', blockFields),
  { field: 'transactions, the last one left out', alter: block => block.transactions.pop() },
  {
    field: 'transactions, the last one left out and not counted',
    alter: block => {
      block.transactions.pop()
      block['tx_count'] = String(block.transactions.length)
    },
  },
  {
    field: 'transactions, in another order',
    alter: block => block.transactions.push(...block.transactions.splice(1, 1)),
  },
  ...ofTransaction('base transaction: ', 0),
  ...ofTransaction('transaction: ', 1),
]
