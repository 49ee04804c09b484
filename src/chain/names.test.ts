import { expect, test } from 'bun:test'
import {
  canHoldTokens,
  isAccountName,
  isActionName,
  isContractId,
  isHash,
  isPossibleName,
  isPublicKey,
  isSystemContract,
  isTokenSymbol,
} from './names.ts'

const HASH = '8psW23ozxC4SjoXeD2DSPWBNzR3Re9a3ei9Vu1C49sQg'
const KEY = '6sNQa7PV2SFzqCBtQUcQYJGGoU7XaB6R4xuCQVXNZe6b'
const ETH = '0x1a77584e7e8880584b18ce251b507273e9751903'

type Row = readonly [(text: string) => boolean, readonly string[], readonly string[]]
const ROWS: readonly Row[] = [
  [
    canHoldTokens,
    ['', 'admin', '__proto__', 'token.iost', `Contract${HASH}`, KEY, ETH, ' a/b', '~'.repeat(62)],
    ['a-b', 'a@b', 'é', 'a\n', '\u007f', 'x'.repeat(63)],
  ],
  [
    isAccountName,
    ['admin', '__proto__', 'constructor', '12345', '_____', 'zzzzzzzzzzz', ETH],
    ['', 'abcd', 'abcdefghijkl', 'Admin', 'a.b.c', 'admin\n', ' admin', ETH.toUpperCase(), `${ETH}0`, '0x1a77584e7e8'],
  ],
  [
    isTokenSymbol,
    ['iost', 'a', '__proto__', '1e5', 'ns.token', 'x'.repeat(64)],
    ['', 'IOST', 'x'.repeat(65), 'a-b', 'a/b', 'ä'],
  ],
  [
    isContractId,
    ['token.iost', 'vote_producer.iost', `Contract${HASH}`, 'ContractXYZ', `${'a'.repeat(94)}.iost`],
    ['', 'Contract', 'Contract0OIl', `Contract${HASH}\n`, HASH].concat(
      ['', 'Token', 'a.b', 'a'.repeat(95)].map(name => `${name}.iost`),
      'token.iosT',
    ),
  ],
  [isSystemContract, ['token.iost'], [`Contract${HASH}`, 'iost']],
  [isActionName, ['transfer', 'toString', '_x', 'A9', 'x'.repeat(32)], ['', 'x'.repeat(33), 'a b', 'a/b', 'ä']],
  [
    isHash,
    [HASH, KEY, '1'.repeat(32)],
    ['', 'xx', `${HASH}1`, HASH.slice(2), `0${HASH.slice(1)}`, 'z'.repeat(44), '1'.repeat(33)],
  ],
  [isPublicKey, [KEY, HASH, 'z'.repeat(45)], ['', '0', KEY.slice(0, 31), 'z'.repeat(46), `${KEY} `]],
  [
    isPossibleName,
    ['admin', ETH, `Contract${HASH}`, 'gas.iost', KEY, '0'],
    ['', '1', 'Admin', 'abc', 'a'.repeat(60), '*'],
  ],
]

for (const [predicate, yes, no] of ROWS)
  test(`${predicate.name}: accepts and refuses names`, () => {
    expect(yes.filter(text => !predicate(text))).toEqual([])
    expect(no.filter(predicate)).toEqual([])
  })
