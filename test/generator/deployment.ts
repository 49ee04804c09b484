import { FOUNDER } from './names.ts'
import { emptyTx, type Tx } from './transaction.ts'
import { type Seals, txHash } from './transaction-hash.ts'

const GAS = 1_234_567
const ABIS = ['play', 'claim', 'route', 'store', 'drop', 'ballot']
const codeOf = (index: number): string =>
  JSON.stringify({
    ID: '',
    info: {
      lang: 'javascript',
      version: `1.0.${index}`,
      abi: ABIS.map(name => ({
        name,
        args: ['string', 'string'],
        amountLimit: [{ token: '*', val: 'unlimited' }],
      })),
    },
    code: `class C${index}{init(){} play(a,b){return a;}}\nmodule.exports=C${index};`,
  })

/**
 * The deployment of a contract in block 1. The contract's id is made from the transaction's hash, which does
 * not cover the id.
 */
export function deployTx(contract: string, index: number): Tx {
  const tx = emptyTx(FOUNDER, GAS)
  const data = JSON.stringify([codeOf(index)])
  tx.actions.push({ contract: 'system.iost', name: 'setCode', data, from: FOUNDER, to: 'system.iost' })
  tx.returns.push(`["${contract}"]`)
  tx.ram.push([FOUNDER, data.length])
  tx.effects.push({ kind: 'deploy', contract }, { kind: 'ram', owner: FOUNDER, bytes: data.length })
  return tx
}

/** Id of the contract that block 1 deploys in its transaction number `index` after the base transaction. */
export const contractId = (seals: Seals, index: number): string =>
  `Contract${txHash(seals, deployTx('', index), { height: 1, position: 1 + index })}`
