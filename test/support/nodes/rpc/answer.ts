export type Answer = { readonly status: number; readonly contentType: string; readonly text: string }

export const found = (text: string): Answer => ({ status: 200, contentType: 'application/json', text })

/** gRPC codes that the node uses: 2 for any failed call, 3 for invalid arguments, 12 for an unknown call. */
type RefusalCode = 2 | 3 | 12

/** An error in the node's form: always HTTP 400 and text/plain. */
export const refused = (code: RefusalCode, message: string): Answer => ({
  status: 400,
  contentType: 'text/plain; charset=utf-8',
  text: JSON.stringify({ code, message }),
})
