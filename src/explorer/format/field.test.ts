import { expect, test } from 'bun:test'
import { ACCOUNT_FIELDS, CONTRACT_FIELDS, inWordsOfPage, RANGE_FIELDS } from './field.ts'

const said = (message: string, details: Readonly<Record<string, string>>, fields = ACCOUNT_FIELDS) =>
  inWordsOfPage({ lang: 'en' }, { message, details }, fields)
const saidInChinese = (message: string, details: Readonly<Record<string, string>>) =>
  inWordsOfPage({ lang: 'zh' }, { message, details }, ACCOUNT_FIELDS)

test("inWordsOfPage: parameters have the labels of the page's own fields", () => {
  const message = "Parameter 'counterparty' is 'x'; it must be an account name."
  expect(said(message, { parameter: 'counterparty' })).toBe("“Counterparty” is 'x'; it must be an account name.")
  expect(said(message, { parameter: 'counterparty' }, CONTRACT_FIELDS)).toContain('“Party” is')
  expect(said(message, { parameter: 'counterparty' }, RANGE_FIELDS)).toBe(message)
  expect(said("Value 2 of parameter 'token' is 'X'.", { parameter: 'token' })).toBe("Value 2 of “Token” is 'X'.")
  expect(said("Parameters 'failed' and 'token' cannot be combined.", { parameter: 'token' })).toBe(
    '“Failed only” and “Token” cannot be combined.',
  )
  expect(saidInChinese("参数 'token' 的第 2 个值为 'X'；取值须为：代币名称。", { parameter: 'token' })).toBe(
    "“代币”的第 2 个值为 'X'；取值须为：代币名称。",
  )
  expect(saidInChinese("参数 'failed' 与 'token' 不能同时使用。", { parameter: 'token' })).toBe(
    '“只看失败”与“代币”不能同时使用。',
  )
})

test('inWordsOfPage: values and things of the chain that are named like parameters keep their names', () => {
  expect(said("Parameter 'start_block' is 'start_block'; it must be", { parameter: 'start_block' })).toBe(
    "“From block” is 'start_block'; it must be",
  )
  expect(said("Value 1 of parameter 'token' is 'token'.", { parameter: 'token' })).toBe(
    "Value 1 of “Token” is 'token'.",
  )
  expect(saidInChinese("参数 'start_block' 的值为 'start_block'；取值", { parameter: 'start_block' })).toBe(
    "“起始区块”的值为 'start_block'；取值",
  )
  expect(saidInChinese("参数 'token' 的第 1 个值为 'token'；", { parameter: 'token' })).toBe(
    "“代币”的第 1 个值为 'token'；",
  )
  for (const message of ["Account 'failed' does not exist at block 7.", "Token 'token' is not available yet"])
    expect(said(message, {})).toBe(message)
})
