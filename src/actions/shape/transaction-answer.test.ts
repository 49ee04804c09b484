import { expect, test } from 'bun:test'
import { writeJson } from '#chain/json.ts'
import { transactionObject } from './transaction-answer.ts'

test('transactionObject: names such as 12345 and __proto__ keep their place and value', () => {
  const body =
    '{"hash":"h","delay":"5","expiration":"9223372036854775807","gas_ratio":1.01,"gas_limit":1e6,"tx_receipt":{"gas_usage":1e-2,"ram_usage":{"user_003":"149","12345":"-67","__proto__":"1"},"returns":["[\\"<\\u003c\\"]"]}}'
  expect(writeJson(transactionObject(body))).toBe(
    '{"hash":"h","delay":5,"expiration":9223372036854775807,"gas_ratio":1.01,"gas_limit":1000000,"tx_receipt":{"gas_usage":0.01,"ram_usage":{"user_003":"149","12345":"-67","__proto__":"1"},"returns":["[\\"<\\u003c\\"]"]}}',
  )
  expect(writeJson(transactionObject(body), { numbers: 'string' })).toContain(
    '"delay":"5","expiration":"9223372036854775807","gas_ratio":"1.01","gas_limit":"1000000","tx_receipt":{"gas_usage":"0.01"',
  )
})
