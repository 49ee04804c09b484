import { shape, text } from './results.ts'

/** An action of a transaction. */
export const actionRow = shape({
  contract: text('Contract.', '合约。'),
  action_name: text('Action name.', '方法名。'),
  data: text('Arguments, as the signer wrote them.', '参数（签名者提交的原文）。'),
})

/** A receipt of a transaction. */
export const receiptRow = shape({
  func_name: text('Contract and action that wrote the receipt.', '写入该收据的合约与方法。'),
  content: text('Content: JSON or any other text.', '内容：JSON 或其他任意文本。'),
})
