import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { type Article, ArticleSchema, ArticlesService } from "../gen/rest/test/v1/articles_pb.ts";

/** A service that keeps articles in memory and checks their etags, `r1`, `r2` and so on. */
export function articles(...existing: Article[]): (router: ConnectRouter) => void {
  const stored = new Map(existing.map((article) => [article.path, article]));
  let revision = existing.length;

  function find(path: string, etag = ""): Article {
    const article = stored.get(path);
    if (article === undefined) throw new ConnectError(`there is no ${path}`, Code.NotFound);
    if (etag !== "" && etag !== article.etag) throw new ConnectError("somebody was faster", Code.Aborted);
    return article;
  }

  return (router) =>
    router.service(ArticlesService, {
      getArticle: ({ path }) => find(path),
      searchArticles: ({ fields }) => ({ title: fields }),
      createArticle({ parent, article = create(ArticleSchema) }) {
        const created = { ...article, path: `${parent}/articles/${article.title}`, etag: `r${++revision}` };
        if (stored.has(created.path)) throw new ConnectError("is there", Code.AlreadyExists);
        stored.set(created.path, created);
        return created;
      },
      updateArticle({ path, article }) {
        const updated = { ...find(path, article?.etag), title: article?.title ?? "", etag: `r${++revision}` };
        stored.set(path, updated);
        return updated;
      },
      deleteArticle({ path, etag }) {
        stored.delete(find(path, etag).path);
        return {};
      },
      publishArticle: ({ path }) => find(path),
    });
}
