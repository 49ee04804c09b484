/** What a node answers to one call. */
export type Answer = { readonly status: number; readonly contentType: string; readonly text: string }

export const found = (text: string): Answer => ({ status: 200, contentType: 'application/json', text })

/** gRPC codes as the node uses them: 2 whatever the call could not do, 3 what cannot be read, 12 no such call. */
export type RefusalCode = 2 | 3 | 12

/** A refusal in the node's form: always HTTP 400 and text/plain, whatever is wrong. */
export const refused = (code: RefusalCode, message: string): Answer => ({
  status: 400,
  contentType: 'text/plain; charset=utf-8',
  text: JSON.stringify({ code, message }),
})
