/**
 * Contract and function of a `func_name` as receipts write it, such as `token.iost/transfer`: what stands before the first
 * `/`, and what stands behind it. Without a `/` the function is empty.
 */
export const partsOfFuncName = (funcName: string): { readonly contract: string; readonly name: string } => {
  const slash = funcName.indexOf('/')
  return slash < 0
    ? { contract: funcName, name: '' }
    : { contract: funcName.slice(0, slash), name: funcName.slice(slash + 1) }
}
