/** Ids of contracts: of system contracts, and those that are made of a hash (chain/iost). */
export const isContract = (id: string): boolean => /^Contract|\.iost$/.test(id)
