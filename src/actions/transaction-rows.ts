import { shape, text } from './results.ts'

/** An action of a transaction. */
export const actionRow = shape({
  contract: text('Contract.', '合约。'),
  action_name: text('Name of the action.', '方法名。'),
  data: text("Arguments, the signer's own text.", '参数，签名者的原文。'),
})

/** A receipt of a transaction. */
export const receiptRow = shape({
  func_name: text('Contract and action that wrote it.', '写入它的合约与方法。'),
  content: text('Content, JSON or any text.', '内容，JSON 或任意文本。'),
})
