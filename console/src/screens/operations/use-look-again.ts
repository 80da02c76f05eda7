import { useState } from "react";
import { type Asked, createLookAgain } from "./create-look-again.ts";

/** @param isUnderWay whether there is something to ask for again; the same function each time. */
export function useLookAgain<Data>(isUnderWay: (data: Data) => boolean): (asked: Asked<Data>) => number | false {
  const [lookAgain] = useState(() => createLookAgain(isUnderWay));
  return lookAgain;
}
