// State of a module is a variable that can be assigned, or a container that a function changes: it lives as long as the process and
// is shared by all servers and tests in it. A constant that is complete once its module has loaded is none.
import { ts } from "@ts-morph/common";
import { createProgram } from "./create-program.ts";

interface FoundState {
  readonly file: string;
  readonly name: string;
  /** Where it is declared, from 1. */
  readonly line: number;
  readonly why: string;
}

/** The methods that change a Map, a Set, a weak one, an array or a typed array. */
const changingMethods: ReadonlySet<string> = new Set(
  "set add delete clear push pop shift unshift splice sort reverse fill copyWithin".split(" "),
);

/** Returns an error for each state of a module that is not listed, and for each entry of the list without state. */
export function checkModuleState(
  sources: ReadonlyMap<string, string>,
  listed: ReadonlyMap<string, string>,
): readonly string[] {
  const found = findModuleState(sources);
  const unlisted = [...found].filter(([key]) => !listed.has(key));
  const gone = [...listed.keys()].filter((key) => !found.has(key));
  return [
    ...unlisted.map(
      ([, { file, name, line, why }]) =>
        `${file}:${line}: the module keeps state in ${name}: ${why}; a module keeps none: hand it on as an argument`,
    ),
    ...gone.map((key) => `${key}: the module keeps no such state; remove its entry from moduleState`),
  ];
}

/** Returns the state of all modules by "file name". */
function findModuleState(sources: ReadonlyMap<string, string>): ReadonlyMap<string, FoundState> {
  const program = createProgram(sources);
  const checker = program.getTypeChecker();
  const found = new Map<string, FoundState>();

  const keep = (name: ts.Identifier, why: string): void => {
    const source = name.getSourceFile();
    const file = pathOf(source);
    const line = source.getLineAndCharacterOfPosition(name.getStart()).line + 1;
    const key = `${file} ${name.text}`;
    if (!found.has(key)) found.set(key, { file, name: name.text, line, why });
  };
  const visit = (node: ts.Node): void => {
    for (const changed of changedBy(node)) {
      const name = moduleVariable(checker, changed);
      if (name !== undefined && isInFunction(node))
        keep(name, `a function of ${pathOf(node.getSourceFile())} changes it`);
    }
    ts.forEachChild(node, visit);
  };

  for (const file of program.getSourceFiles()) {
    for (const { name, isConstant, declaration } of moduleVariables(file)) {
      if (!isConstant) keep(name, "it can be assigned");
      else if (isMadeToBeFilled(declaration)) keep(name, "it is empty and can be filled");
    }
    visit(file);
  }
  return found;
}

interface ModuleVariable {
  readonly name: ts.Identifier;
  readonly isConstant: boolean;
  readonly declaration: ts.VariableDeclaration;
}

function moduleVariables(file: ts.SourceFile): readonly ModuleVariable[] {
  return file.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) =>
    declarationList.declarations.flatMap((declaration) =>
      namesIn(declaration.name).map((name) => ({
        name,
        // `using` is constant as well.
        isConstant: (declarationList.flags & (ts.NodeFlags.Const | ts.NodeFlags.Using)) !== 0,
        declaration,
      })),
    ),
  );
}

function namesIn(name: ts.BindingName): readonly ts.Identifier[] {
  if (ts.isIdentifier(name)) return [name];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : namesIn(element.name)));
}

/**
 * Whether a variable begins as an empty Map, Set, weak one or array, and its type lets it be filled. Where that happens need not
 * be visible: it may be an argument of a function that fills it.
 */
function isMadeToBeFilled({ initializer, type }: ts.VariableDeclaration): boolean {
  if (initializer === undefined || (type !== undefined && /^readonly/i.test(type.getText()))) return false;
  if (ts.isArrayLiteralExpression(initializer)) return initializer.elements.length === 0;
  if (!ts.isNewExpression(initializer) || !ts.isIdentifier(initializer.expression)) return false;
  return /^(Weak)?(Map|Set)$/.test(initializer.expression.text) && (initializer.arguments ?? []).length === 0;
}

/** Returns the expressions whose values a node changes: `a.b` of `a.b.push(1)`, `a` of `a.b += 1`. */
function changedBy(node: ts.Node): readonly ts.Expression[] {
  if (ts.isBinaryExpression(node)) return isAssignment(node.operatorToken.kind) ? assignedIn(node.left) : [];
  if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
    const changes = node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken;
    return changes ? assignedIn(node.operand) : [];
  }
  if (ts.isDeleteExpression(node)) return assignedIn(node.expression);
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { expression, name } = node.expression;
  if (changingMethods.has(name.text)) return [expression];
  const isObjectAssign = ts.isIdentifier(expression) && expression.text === "Object" && name.text === "assign";
  return isObjectAssign ? node.arguments.slice(0, 1) : [];
}

function isAssignment(operator: ts.SyntaxKind): boolean {
  return operator >= ts.SyntaxKind.FirstAssignment && operator <= ts.SyntaxKind.LastAssignment;
}

/** Returns the objects whose properties or elements an assignment to `target` changes, also one that destructures. */
function assignedIn(target: ts.Expression): readonly ts.Expression[] {
  if (ts.isPropertyAccessExpression(target) || ts.isElementAccessExpression(target)) return [target.expression];
  if (ts.isArrayLiteralExpression(target)) return target.elements.flatMap(assignedIn);
  if (ts.isObjectLiteralExpression(target)) {
    return target.properties.flatMap((each) => (ts.isPropertyAssignment(each) ? assignedIn(each.initializer) : []));
  }
  return isWrapper(target) ? assignedIn(target.expression) : [];
}

/** Returns the variable of a module that holds a value, also deep inside: `a` of `a.b.get(c)!.d`. Follows imports. */
function moduleVariable(checker: ts.TypeChecker, value: ts.Expression): ts.Identifier | undefined {
  const root = rootOf(value);
  const symbol = root && checker.getSymbolAtLocation(root);
  if (symbol === undefined) return undefined;
  const isImported = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const declaration = (isImported ? checker.getAliasedSymbol(symbol) : symbol).valueDeclaration;
  if (declaration === undefined) return undefined;
  return moduleVariables(declaration.getSourceFile()).find(({ name }) => name.parent === declaration)?.name;
}

function rootOf(value: ts.Expression): ts.Identifier | undefined {
  if (ts.isIdentifier(value)) return value;
  if (ts.isPropertyAccessExpression(value) || ts.isElementAccessExpression(value) || isWrapper(value)) {
    return rootOf(value.expression);
  }
  const isLookUp = ts.isCallExpression(value) && ts.isPropertyAccessExpression(value.expression);
  if (!isLookUp || !["get", "at"].includes(value.expression.name.text)) return undefined;
  return rootOf(value.expression.expression);
}

function isWrapper(
  value: ts.Expression,
): value is ts.ParenthesizedExpression | ts.NonNullExpression | ts.AsExpression | ts.SatisfiesExpression {
  return (
    ts.isParenthesizedExpression(value) ||
    ts.isNonNullExpression(value) ||
    ts.isAsExpression(value) ||
    ts.isSatisfiesExpression(value)
  );
}

/** Returns the path of a file from the root, to which the compiler adds a slash. */
function pathOf({ fileName }: ts.SourceFile): string {
  return fileName.replace(/^\//, "");
}

function isInFunction(node: ts.Node): boolean {
  return ts.findAncestor(node, ts.isFunctionLike) !== undefined;
}
