-- +goose Up

-- The width and height of images, in pixels: front ends reserve the place of an image before they have it, and draw
-- covers by their sizes. Both are null for other files, and for files that were stored before.
alter table files add column width integer, add column height integer,
    add constraint files_size check ((width is null) = (height is null));
