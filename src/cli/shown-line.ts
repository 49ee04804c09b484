const MAX = 60

/** A line of an operator's file for messages: in quotes, and shortened if it is long. */
export const shownLine = (line: string): string => JSON.stringify(line.length > MAX ? `${line.slice(0, MAX)}…` : line)
