/**
 * Texts that most records consist of, stored by their number: the first two take no space at all. Numbers are stored, so new
 * words are only ever added at the end.
 */
const WORDS: readonly string[] = [
  'SUCCESS',
  'token.iost',
  'transfer',
  '[]',
  '[""]',
  'RUNTIME_ERROR',
  'BALANCE_NOT_ENOUGH',
  'TIMEOUT',
  'OUT_OF_GAS',
  'gas.iost',
  'pledge',
  'unpledge',
  'ram.iost',
  'buy',
  'sell',
  'lend',
  'auth.iost',
  'signUp',
  'vote_producer.iost',
  'vote',
  'unvote',
  'voterWithdraw',
  'candidateWithdraw',
  'topupVoterBonus',
  'topupCandidateBonus',
  'issue',
  'destroy',
  'transferFreeze',
  'create',
  'token721.iost',
  'exchange.iost',
  'bonus.iost',
  'exchangeIOST',
  'base.iost',
  'exec',
  'system.iost',
  'receipt',
  'setCode',
  'updateCode',
  'vote.iost',
  'issue.iost',
  'issueIOST',
  'domain.iost',
  'play',
  'stat',
  'true',
  '["true"]',
  'deposit',
  'withdraw',
  'payout',
]

const numbers: ReadonlyMap<string, bigint> = new Map(WORDS.map((word, number) => [word, BigInt(number)]))

/** The number of a word; undefined: the text is none and is stored as it is. */
export const numberOfWord = (text: string): bigint | undefined => numbers.get(text)

/** undefined: this version has no such word. */
export const wordOf = (number: bigint): string | undefined => WORDS[Number(number)]
