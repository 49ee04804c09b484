import { expect, test } from 'bun:test'
import { listNftMovements } from './record.ts'

const said = (name: string, ...args: readonly string[]) => ({
  func_name: `token721.iost/${name}`,
  content: JSON.stringify(args),
})
const mint = ['cats', 'alice', '{}']
const rest = { collection: 'cats', memo: '', until: undefined }

const transaction = {
  delay: '0',
  actions: [
    { contract: 'token721.iost', action_name: 'issue', data: JSON.stringify(mint) },
    { contract: 'ContractShop', action_name: 'sell', data: '[]' },
  ],
  tx_receipt: {
    status_code: 'SUCCESS',
    returns: ['["4"]', '[]'],
    receipts: [
      said('issue', ...mint),
      said('issue', ...mint),
      said('transfer', 'cats', 'alice', 'bob', '4'),
      // The right to issue is no NFT.
      said('transfer', 'cats', 'alice', 'bob', 'T721issuer'),
      said('create', 'cats', 'alice', '10'),
    ],
  },
}

test('listNftMovements: NFTs that actions and contracts issued and moved, those of a contract without the unknown id', () => {
  expect(listNftMovements(transaction)).toEqual([
    { ...rest, from: '', to: 'alice', nft: '4' },
    { ...rest, from: '', to: 'alice', nft: undefined },
    { ...rest, from: 'alice', to: 'bob', nft: '4' },
  ])
})

test('listNftMovements: failed and delayed transactions moved nothing', () => {
  expect(listNftMovements({ ...transaction, delay: '5' })).toEqual([])
  const failed = { ...transaction.tx_receipt, status_code: 'RUNTIME_ERROR' }
  expect(listNftMovements({ ...transaction, tx_receipt: failed })).toEqual([])
})
